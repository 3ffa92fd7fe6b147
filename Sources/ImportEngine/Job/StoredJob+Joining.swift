import ImportModel
import ImportSources

extension StoredJob {
    /// The model of this job and of a later one, which becomes a part of it: the later one's, and the entities that only this one has
    /// in their places.
    ///
    /// - Returns: nil where entities relate to one another and the models differ; the places of the later one's among the entities.
    package func model(with later: StoredJob) -> (model: ModelDescription, places: [Int])? {
        guard let model, let new = later.model else { return nil }
        if model == new { return (model, Array(model.entities.indices)) }
        guard model.isFlat, new.isFlat else { return nil }
        var joined = model
        let places = new.entities.map { entity in
            if let place = model.entities.firstIndex(where: { $0.name.hasSameBytes(as: entity.name) }) {
                joined.entities[place] = entity
                return place
            }
            joined.entities.append(entity)
            return joined.entities.count - 1
        }
        return (joined, places)
    }

    /// The sources of this job and of a later one, which becomes a part of it.
    ///
    /// - Parameter end: gives where that ends which is committed of one of this job's sources.
    /// - Returns: those of both: one that has grown is longer, others come behind; and the places of the later one's among them.
    package func sources(
        with later: StoredJob,
        endingAt end: (Int) throws -> Int64?
    ) rethrows -> (all: [Source], places: [Int]) {
        var all = sources
        let places = try later.sources.map { source in
            let key = source.description.key
            let known = key.flatMap { key in sources.lastIndex { $0.description.key == key } }
            if let known {
                if let earlier = source.description.earlier, earlier.job == id, try end(known) == earlier.end.byteOffset
                {
                    all[known].description = source.description
                    all[known].description.earlier = sources[known].description.earlier
                    return known
                }
                // What was at its path is not there any more.
                all[known].description.isGone = true
            }
            all.append(source)
            return all.count - 1
        }
        return (all, places)
    }
}
