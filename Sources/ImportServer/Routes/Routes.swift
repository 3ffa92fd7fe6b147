import Importer

/// Which path is answered by what.
struct Routes: Sendable {
    let options: ServerOptions
    let page: PageDocument
    let observer: StoreObserver
    let pool: ReaderPool
    let entities: EntityCache

    /// The answer to a request that may be answered.
    ///
    /// - Throws: `ResponseError` and what reading throws.
    func answer(_ request: Request) async throws -> Response {
        switch (request.parts.first, request.parts.count) {
        case ("", 1): return Response(page.bytes, type: "text/html; charset=utf-8")
        case ("events", 1): return try events(request)
        case ("metrics", 1): return try await MetricsRoute(routes: self).answer()
        case ("api", let count) where count > 1:
            return try await api(request, request.parts[1], Array(request.parts[2...]))
        default: throw notFound(request)
        }
    }

    private func api(_ request: Request, _ name: String, _ rest: [String]) async throws -> Response {
        switch (name, rest.count) {
        case ("status", 0): return try await StatusRoute(routes: self).answer()
        case ("entities", 0): return try await EntitiesRoute(routes: self).answer()
        case ("records", 1): return try await RecordsRoute(routes: self).answer(request, entity: rest[0])
        case ("record", 2): return try await RecordRoute(routes: self).answer(request, entity: rest[0], key: rest[1])
        case ("distribution", 2):
            return try await DistributionRoute(routes: self).answer(entity: rest[0], attribute: rest[1])
        case ("rejects", 0): return try await RejectsRoute(routes: self).answer(request)
        case ("reject", 1): return try await RejectsRoute(routes: self).answer(number: rest[0])
        case ("ledger", 0): return try await LedgerRoute(routes: self).answer()
        case ("jobs", 0): return try await JobsRoute(routes: self).answer(request)
        default: throw notFound(request)
        }
    }

    /// The store's entities with their counts, which may be some time old.
    func summaries() async throws -> [EntitySummary] {
        try await entities.summaries(of: observer.last.generation)
    }

    /// Looks into the store's bookkeeping as one of those that read at a time, by the connection of that one.
    ///
    /// - Returns: nil where there is no store yet, or no import in it.
    func inspect<Result: Sendable>(
        _ body: @escaping @Sendable (StoreInspection) throws -> Result
    ) async throws -> Result? {
        do {
            return try await pool.read { try $0.inspection($1).map(body) }
        } catch let error as ImportError where [.storeNotFound, .storeEmpty].contains(error.reason) {
            return nil
        }
    }

    private func events(_ request: Request) throws -> Response {
        guard let subscription = observer.hub.subscribe(after: request.headers["last-event-id"]) else {
            throw ResponseError(
                .unavailable,
                code: "too_many_streams",
                "\(EventHub.mostSubscriptions) pages are open already",
                advice: "Close one, or read /api/status."
            )
        }
        return Response(subscription)
    }

    private func notFound(_ request: Request) -> ResponseError {
        ResponseError(.notFound, "there is nothing at \(request.path.prefix(200))", advice: "The page is at /.")
    }
}
