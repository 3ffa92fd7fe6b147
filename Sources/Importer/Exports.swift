@_exported import ImportChanges
@_exported import ImportEngine
@_exported import ImportMigration
@_exported import ImportModel
@_exported import ImportSQLite
@_exported import ImportSources
