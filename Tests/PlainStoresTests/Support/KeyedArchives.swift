import PlainStores
import PropertyList

/// Returns the bytes of a keyed archive that holds these objects.
func archive(
    of objects: [StoredValue], top: [String: StoredValue] = ["root": reference(1)]
) throws(PropertyListError) -> [UInt8] {
    let list: [String: StoredValue] = [
        "$archiver": .string("NSKeyedArchiver"), "$objects": .array(objects), "$top": .dictionary(top),
    ]
    return try PropertyListFormat.xml.serialized(.dictionary(list))
}

/// Refers to an object of an archive.
func reference(_ index: Int) -> StoredValue { .dictionary(["CF$UID": .integer(Int128(index))]) }
