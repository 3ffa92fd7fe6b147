import Importer

extension Interruption.Reason {
    /// As a shell puts the end by a signal.
    var exitCode: Int32 {
        switch self {
        case .hangup: ImportError.Code.hangup.rawValue
        case .interrupt: ImportError.Code.interrupted.rawValue
        case .terminate: ImportError.Code.terminated.rawValue
        }
    }
}
