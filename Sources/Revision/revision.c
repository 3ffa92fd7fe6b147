#include "revision.h"

// A target of its own, which programs link and no module depends on: with another commit, this file is all that is compiled.
const char *importer_revision(void) {
#ifdef IMPORTER_REVISION
    return IMPORTER_REVISION;
#else
    // In an archive that `git archive` has made, the commit is here.
    static const char archived[] = "$Format:%H$";
    return archived[0] == '$' ? "unknown" : archived;
#endif
}
