/// The elements of Apple's PropertyList-1.0.dtd.
enum XMLElement: String {
    case plist, dict, key, array, string, data, date, integer, real
    case yes = "true"
    case no = "false"
}
