import Dispatch
import Synchronization

/// A bounded queue of byte blocks from one thread to another; blocks go back to be used again.
final class BlockQueue: Sendable {
    /// What the reading side gets.
    enum Item: Sendable {
        /// The first `count` bytes of `bytes`.
        case block(bytes: [UInt8], count: Int)
        case end
        case failure(any Error)
    }

    private struct State {
        var items: [Item] = []
        var spare: [[UInt8]] = []
        var isAbandoned = false
    }

    private let state: Mutex<State>
    /// Counts spare blocks.
    ///
    /// It starts at 0 and is raised, as libdispatch does not let one go below its first value.
    private let spares = DispatchSemaphore(value: 0)
    /// Counts items.
    private let items = DispatchSemaphore(value: 0)

    /// Makes a queue with all of its blocks.
    init(blocks: Int, blockSize: Int) {
        let spare = (0..<blocks).map { _ in [UInt8](repeating: 0, count: blockSize) }
        state = Mutex(State(spare: spare))
        for _ in 0..<blocks { spares.signal() }
    }

    /// For the writing side: waits for an empty block; nil when the reading side has gone.
    func takeSpare() -> [UInt8]? {
        spares.wait()
        return state.withLock { $0.isAbandoned ? nil : $0.spare.popLast() }
    }

    /// For the writing side: hands an item over.
    func push(_ item: Item) {
        state.withLock { $0.items.append(item) }
        items.signal()
    }

    /// For the reading side: waits for the next item; nothing comes after `.end` or `.failure`.
    func pop() -> Item {
        items.wait()
        return state.withLock { $0.items.removeFirst() }
    }

    /// For the reading side: gives an emptied block back.
    func giveBack(_ block: [UInt8]) {
        state.withLock { $0.spare.append(block) }
        spares.signal()
    }

    /// For the reading side: nothing more is wanted.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
        spares.signal()
    }
}
