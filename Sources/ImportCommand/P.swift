import ArgumentParser
import Importer
@main struct ImporterCommand: ParsableCommand { func run() throws { print("hi") } }
