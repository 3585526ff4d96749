import FoundationEssentials
import PropertyList
import Testing

@Suite("Dates")
struct DateTests {
    // The seconds are from Python: (datetime(...) - datetime(2001, 1, 1)).total_seconds().
    @Test(arguments: [
        ("2001-01-01T00:00:00Z", 0.0), ("1970-01-01T00:00:00Z", -978_307_200), ("2000-02-29T12:34:56Z", -26_479_504),
        ("1900-03-01T00:00:00Z", -3_182_198_400), ("2024-12-31T23:59:59Z", 757_382_399),
        ("0001-01-01T00:00:00Z", -63_113_904_000), ("9999-12-31T23:59:59Z", 252_423_993_599),
    ])
    func aDateIsReadAndWrittenToTheSecond(date: String, seconds: Double) throws {
        let value = StoredValue.date(Date(timeIntervalSinceReferenceDate: seconds))
        #expect(try read(inside: "<date> \(date)\n</date>") == value)
        #expect(try text(value).contains("<date>\(date)</date>"))
    }

    @Test(arguments: [
        "", "2001-01-01", "2001-01-01T00:00:00", "2001-01-01T00:00:00+00:00", "2001-01-01T00:00:00.5Z",
        "2001-1-1T0:0:0Z",
        "-001-01-01T00:00:00Z", "12001-01-01T00:00:00Z", "2001-00-01T00:00:00Z", "2001-13-01T00:00:00Z",
        "2001-01-00T00:00:00Z", "2001-01-32T00:00:00Z", "2001-04-31T00:00:00Z", "1900-02-29T00:00:00Z",
        "2001-02-29T00:00:00Z", "2001-12-32T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z",
        "2001-01-01T00:00:60Z", "0000-01-01T00:00:00Z", "2001-01-01t00:00:00z", "٢001-01-01T00:00:00Z",
    ])
    func aDateThatNoCalendarHasIsRefused(date: String) {
        #expect(refusal(inside: "<date>\(date)</date>") == .malformed)
    }

    @Test(arguments: [0.5, -0.001, 252_423_993_600, -63_113_904_001, .infinity, .nan, 1e300])
    func aDateThatXMLCannotHoldIsNotWritten(seconds: Double) throws {
        let tree = StoredValue.date(Date(timeIntervalSinceReferenceDate: seconds))
        #expect(code { () throws(PropertyListError) in _ = try tree.xml() } == .unrepresentable)
        #expect(try StoredValue(parsing: tree.binary()) == tree)
        #expect(!CalendarTime.holds(Date(timeIntervalSinceReferenceDate: seconds)))
    }

    @Test func minusZeroSecondsAreTheSameSecondAsZeroInXML() throws {
        let zero = Date(timeIntervalSinceReferenceDate: 0)
        let minusZero = Date(timeIntervalSinceReferenceDate: -0.0)
        #expect(try StoredValue(parsing: StoredValue.date(minusZero).xml()) == .date(zero))
        let fromBinary = try StoredValue(parsing: StoredValue.date(minusZero).binary())
        #expect(fromBinary == .date(minusZero))
        #expect(fromBinary.hashValue == StoredValue.date(minusZero).hashValue)
        #expect(CalendarTime.holds(zero) && !CalendarTime.holds(minusZero))
    }

    @Test func everyDayIsReadBack() throws {
        for day in stride(from: -730_485, through: 2_921_574, by: 89) {
            let tree = StoredValue.date(Date(timeIntervalSinceReferenceDate: Double(day) * 86_400))
            #expect(try StoredValue(parsing: tree.xml()) == tree)
        }
    }
}
