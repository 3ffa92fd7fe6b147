extension UnsafeBufferPointer {
    /// These trivial elements in memory of their own, which lives until it is deallocated; never without an address.
    package static func copy(of elements: [Element]) -> Self {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: Swift.max(1, elements.count))
        _ = memory.initialize(from: elements)
        return Self(rebasing: memory[..<elements.count])
    }
}
