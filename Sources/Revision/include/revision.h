#ifndef CREVISION_H
#define CREVISION_H

/// The commit that the program is built of, or "unknown".
const char *importer_revision(void);

#endif
