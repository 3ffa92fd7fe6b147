import Importer
import Testing

@testable import ImportPostgreSQL

struct PGErrorTests {
    // MARK: What libpq says of a connection

    @Test func aRefusedLoginIsToldByItsState() {
        let failure = PGError(
            connecting: """
                connection to server at "db", port 5432 failed: FATAL:  28P01: password authentication failed for "u"
                LOCATION:  auth_failed, auth.c:331
                """
        )
        #expect(failure.sqlState == "28P01")
        #expect(
            failure.message
                == #"connection to server at "db", port 5432 failed: password authentication failed for "u""#
        )
        #expect(!failure.isTransient)
        #expect(failure.importError(at: "s", showsValues: false).reason == .loginRefused)
    }

    @Test func theStateIsFoundInOtherLanguages() {
        let failure = PGError(
            connecting: "connection to server failed: FATAL:  57P03: das Datenbanksystem startet"
        )
        #expect(failure.sqlState == "57P03")
        #expect(failure.isTransient)
        #expect(failure.message == "connection to server failed: das Datenbanksystem startet")
    }

    @Test func everyHostHasItsWords() {
        let failure = PGError(
            connecting: """
                connection to server at "a" (::1), port 5432 failed: Connection refused
                \tIs the server running on that host and accepting TCP/IP connections?
                connection to server at "b" (10.0.0.1), port 5432 failed: FATAL:  53300: sorry, too many clients already
                """
        )
        #expect(failure.sqlState == "53300")
        #expect(failure.message.contains("refused; Is the server running"))
        #expect(failure.message.contains("; connection to server at \"b\""))
        #expect(failure.isTransient)
        #expect(failure.importError(at: "s", showsValues: false).code == .unavailable)
    }

    @Test(arguments: [
        (
            "connection to server at \"a\" (::1), port 5432 failed: Connection refused",
            ImportError.Reason.serverUnavailable, true
        ),
        (
            "could not translate host name \"a.invalid\" to address: Name or service not known", .serverUnavailable,
            false
        ),
        (
            "could not translate host name \"a\" to address: Temporary failure in name resolution", .serverUnavailable,
            true
        ),
        ("a, port 5432: timeout expired", .serverUnavailable, true),
        (
            "connection to server at \"a\", port 5432 failed: server does not support SSL, but SSL was required",
            .serverUnavailable, false
        ),
        ("connection to server failed: root certificate file \"/root.crt\" does not exist", .serverUnavailable, false),
        ("connection to server failed: SSL SYSCALL error: EOF detected", .serverUnavailable, true),
        ("invalid sslmode value: \"maybe\"", .optionInvalid, false),
        ("definition of service \"shop\" not found", .optionInvalid, false),
        ("connection to server failed: session is read-only", .storeReadOnly, false),
        ("connection to server failed: fe_sendauth: no password supplied", .loginRefused, false),
        ("connection to server failed: could not create socket: Too many open files", .noDescriptors, false),
    ])
    func whatLibpqSaysHasAReason(_ words: String, _ reason: ImportError.Reason, _ isTransient: Bool) {
        let failure = PGError(connecting: words)
        let error = failure.importError(at: "postgresql://a/b", showsValues: false)
        #expect(error.reason == reason)
        #expect(failure.isTransient == isTransient)
        #expect(error.path == "postgresql://a/b")
        #expect(error.advice != nil)
        #expect(error.message.contains(words))
    }

    @Test func aWrongParameterOfTheAddressIsNamed() {
        let failure = PGError(
            connecting: #"connection to server failed: FATAL:  22023: invalid value for parameter "x": "y""#
        )
        let error = failure.importError(at: "s", showsValues: false)
        #expect(error.reason == .optionInvalid)
        #expect(error.message.contains(#"parameter "x": "y""#))
    }

    // MARK: What a server says

    @Test(arguments: [
        ("08006", true), ("08P01", true), ("40001", true), ("40P01", true), ("53000", true), ("53100", false),
        ("53200", true),
        ("53300", true), ("57P01", true), ("57P03", true), ("57014", false), ("23505", false), ("42501", false),
        ("58030", false),
    ])
    func someMayGoWellALittleLater(_ state: String, _ isTransient: Bool) {
        #expect(PGError(sqlState: state, message: "m").isTransient == isTransient)
    }

    @Test(arguments: [
        ("28P01", Int32(77)), ("28000", 77), ("42501", 77), ("3D000", 66), ("25006", 73), ("53100", 74), ("53300", 69),
        ("57P01", 69), ("57014", 74), ("22021", 73), ("55P03", 75), ("XX001", 74), ("23505", 74), ("08006", 69),
        ("53200", 69),
    ])
    func aStateHasAnExitCode(_ state: String, _ code: Int32) {
        let error = PGError(sqlState: state, message: "words").importError(at: "s", showsValues: false)
        #expect(error.code.rawValue == code)
        #expect(error.message.contains("words"))
    }

    @Test func valuesAreShownWhereTheyMayBe() {
        let failure = PGError(
            sqlState: "22P02",
            message: #"invalid input syntax for type integer: "sesam" or "sesam""#,
            detail: "Key (a)=(sesam) is there",
            context: #"COPY t, line 1, column a: "sesam""#
        )
        #expect(!failure.importError(at: "s", showsValues: false).description.contains("sesam"))
        #expect(failure.importError(at: "s", showsValues: false).message.contains("type integer"))
        let shown = failure.importError(at: "s", showsValues: true)
        #expect(shown.advice?.contains("Key (a)=(sesam) is there") == true)
        // It is kept with the job.
        #expect(!shown.message.contains("sesam"))
    }

    @Test func namesInQuotesStay() {
        let failure = PGError(
            sqlState: "23505",
            message: #"duplicate key value violates unique constraint "t_key""#
        )
        #expect(failure.importError(at: "s", showsValues: false).message.contains("t_key"))
    }
}
