package import FoundationEssentials

/// The dates of XML property lists: `YYYY-MM-DDTHH:MM:SSZ`, in the proleptic Gregorian calendar, years 0001 to 9999.
/// The ISO 8601 style of FoundationEssentials is unsuitable because it uses the Julian calendar before 1582.
///
/// The conversion follows Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms" (`days_from_civil`,
/// `civil_from_days`). Years begin in March, so that the leap day is a year's last day, and 400 years form an era.
package enum CalendarTime {
    private static let daysInEra = 146_097
    /// The number of days from 0000-03-01, the start of the first era, to 2001-01-01, the reference date of `Date`.
    private static let referenceDay = days(year: 2001, month: 1, day: 1)
    /// The years 1 to 9999, as a range of seconds since 2001.
    private static let span = -63_113_904_000..<252_423_993_600
    private static let shape = Array("0000-00-00T00:00:00Z".utf8)

    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let yearOfEra = year % 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year / 400 * daysInEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let dayOfEra = days % daysInEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = days / daysInEra * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }

    static func date(_ text: ArraySlice<UInt8>) throws(PropertyListError) -> Date {
        let pairs = zip(text, shape)
        let isShaped = pairs.allSatisfy { $1 == UInt8(ascii: "0") ? (0x30...0x39).contains($0) : $0 == $1 }
        guard text.count == shape.count, isShaped else { throw .malformed("a date that is not YYYY-MM-DDTHH:MM:SSZ") }
        let digits = text.filter { (0x30...0x39).contains($0) }.map { Int($0) - 0x30 }
        let fields = [0..<4, 4..<6, 6..<8, 8..<10, 10..<12, 12..<14].map { digits[$0].reduce(0) { $0 * 10 + $1 } }
        let dayCount = days(year: fields[0], month: fields[1], day: fields[2]) - referenceDay
        let seconds = dayCount * 86_400 + fields[3] * 3_600 + fields[4] * 60 + fields[5]
        let date = Date(timeIntervalSinceReferenceDate: Double(seconds))
        // A nonexistent date, such as February 30, becomes a different date, whose text does not match the input.
        guard self.text(date)?.utf8.elementsEqual(text) == true else { throw .malformed("a date that does not exist") }
        return date
    }

    /// Returns the text of a date; nil if the date has a fraction of a second or is not in the years 1 to 9999.
    static func text(_ date: Date) -> String? {
        guard let seconds = Int(exactly: date.timeIntervalSinceReferenceDate), span.contains(seconds)
        else { return nil }
        let (dayCount, time) = (seconds + referenceDay * 86_400).quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = civil(dayCount)
        // Pads `number` with leading zeros, by adding `power`, a power of ten, and dropping the first digit of the sum.
        func padded(_ number: Int, _ power: Int) -> Substring { String(power + number).dropFirst() }
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, 100) }
        return "\(padded(year, 10_000))-\(padded(month, 100))-\(padded(day, 100))T\(clock.joined(separator: ":"))Z"
    }

    /// Returns whether this format can represent a date exactly.
    package static func holds(_ date: Date) -> Bool {
        text(date) != nil && date.timeIntervalSinceReferenceDate.bitPattern != (-0.0).bitPattern
    }
}
