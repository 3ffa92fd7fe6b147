/// The program's own version.
public enum ImporterVersion {
    /// After Semantic Versioning.
    public static let text = "0.1.0"
}
