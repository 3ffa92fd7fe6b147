import Testing

@testable import ImportPostgreSQL

struct ServerNamesTests {
    @Test func keepsTheServersLimit() { #expect(ServerNames.longest == 63) }
}
