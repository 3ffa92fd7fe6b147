import ImportModel
import ImportSources

extension JobResolver {
    /// Checks a model that is given.
    ///
    /// - Throws: `ImportError` with `.badInput` that has all of its mistakes.
    package static func check(_ model: ModelDescription?, _ transformers: TransformerRegistry) throws {
        do throws(ModelError) {
            try model?.check(transformers: transformers)
        } catch {
            throw ImportError(
                .modelInvalid,
                "the model is not valid; nothing was written",
                advice: "\(error)",
                modelError: error
            )
        }
    }
}
