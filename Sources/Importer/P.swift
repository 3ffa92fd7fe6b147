import GRDB
import GRDBSQLite
import CYajl
import CArchive
import CXXHash
import SystemPackage
import Logging
func f() -> Int { Int(XXH3_64bits(nil, 0)) }
