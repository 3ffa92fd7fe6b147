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
        /// By numbers that are given once.
        var wakers: [Int: @Sendable () -> Void] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())
    /// Makes the one that this one is stopped with forget it; nil where there is none.
    private let leaveParent: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

    /// Creates an interruption that is not requested.
    public init() {}

    deinit { leaveParent.withLock { $0?() } }

    /// Requests to stop.
    public func request(_ reason: Reason) {
        let wakers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.reason == nil else { return [] }
            state.reason = reason
            defer { state.wakers = [:] }
            return state.wakers.sorted { $0.key < $1.key }.map(\.value)
        }
        for wake in wakers { wake() }
    }

    /// One that is stopped with this one, and may be stopped without it.
    package func child() -> Interruption {
        let child = Interruption()
        let number = addWaker { [weak self, weak child] in child?.request(self?.reason ?? .interrupt) }
        child.leaveParent.withLock { leave in
            leave = { [weak self] in _ = self?.state.withLock { $0.wakers.removeValue(forKey: number) } }
        }
        return child
    }

    /// The reason for the first request; nil if there is none.
    public var reason: Reason? { state.withLock { $0.reason } }

    /// True if a stop was requested.
    public var isRequested: Bool { reason != nil }

    /// Calls `wake` once when a stop is asked for, at once if it already was.
    ///
    /// For threads that sleep.
    package func onRequest(_ wake: @escaping @Sendable () -> Void) { _ = addWaker(wake) }

    private func addWaker(_ wake: @escaping @Sendable () -> Void) -> Int {
        let (number, isLate) = state.withLock { state in
            state.lastNumber += 1
            if state.reason == nil { state.wakers[state.lastNumber] = wake }
            return (state.lastNumber, state.reason != nil)
        }
        if isLate { wake() }
        return number
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
