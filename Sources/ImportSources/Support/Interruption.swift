import Synchronization

/// A request to stop an import at the next safe point.
///
/// Any thread may request it; the first request counts.
public final class Interruption: Sendable {
    /// The reason for an interruption, which determines the exit code.
    public enum Reason: Sendable, Hashable {
        case interrupt
        case terminate
        case hangup
    }

    private struct State {
        var reason: Reason?
        var wakers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Creates an interruption that is not requested.
    public init() {}

    /// Requests to stop.
    public func request(_ reason: Reason) {
        let wakers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.reason == nil else { return [] }
            state.reason = reason
            defer { state.wakers = [] }
            return state.wakers
        }
        for wake in wakers { wake() }
    }

    /// One that is stopped with this one, and may be stopped without it.
    package func child() -> Interruption {
        let child = Interruption()
        onRequest { [weak self] in child.request(self?.reason ?? .interrupt) }
        return child
    }

    /// The reason for the first request; nil if there is none.
    public var reason: Reason? { state.withLock { $0.reason } }

    /// True if a stop was requested.
    public var isRequested: Bool { reason != nil }

    /// Calls `wake` once when a stop is asked for, at once if it already was.
    ///
    /// For threads that sleep.
    package func onRequest(_ wake: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if state.reason == nil { state.wakers.append(wake) }
            return state.reason != nil
        }
        if isLate { wake() }
    }

    /// What a stopped call throws.
    package var error: ImportError {
        let reason = reason ?? .interrupt
        return ImportError(reason.error, "\(reason.message)")
    }

    /// - Throws: `ImportError` with the code of the interruption, if there was one.
    package func check() throws {
        if isRequested { throw error }
    }
}

extension Interruption.Reason {
    package var error: ImportError.Reason {
        switch self {
        case .interrupt: .interrupted
        case .terminate: .terminated
        case .hangup: .hungUp
        }
    }

    package var message: String {
        switch self {
        case .interrupt: "interrupted"
        case .terminate: "terminated"
        case .hangup: "hung up"
        }
    }
}
