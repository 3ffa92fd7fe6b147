import CMalloc

/// Memory that was freed and that the process still has.
package enum AllocatorTrim {
    /// Gives it back to the system (`malloc_trim(3)`).
    ///
    /// glibc keeps what a thread has freed in an arena of that thread's, for what it may allocate again. After a phase of many
    /// workers these are tens of MB that the next phase, on other threads, has no use for.
    package static func giveBack() {
        cmalloc_give_back()
    }
}
