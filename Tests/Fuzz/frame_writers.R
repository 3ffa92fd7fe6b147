# Writes frames as jsonlite writes them. frames.py starts it once; see frame_writers.py for what it reads and prints.
suppressMessages(library(jsonlite))
input <- file("stdin", "r")
cat(toJSON(list(jsonlite = as.character(packageVersion("jsonlite"))), auto_unbox = TRUE), "\n", sep = "")
some <- function(values, otherwise, convert) vapply(values, function(v) if (is.null(v)) otherwise else convert(v), otherwise)
column <- function(kind, values) switch(kind,
    int = some(values, NA_real_, as.numeric),
    big = some(values, NA_real_, as.numeric),
    float = some(values, NA_real_, as.numeric),
    bool = some(values, NA, as.logical),
    decimal = some(values, NA_real_, as.numeric),
    uuid = some(values, NA_character_, as.character),
    text = some(values, NA_character_, as.character),
    day = as.Date(some(values, NA_character_, as.character)),
    instant = as.POSIXct(some(values, NA_character_, as.character), tz = "UTC", format = "%Y-%m-%dT%H:%M:%OS"),
    null = rep(NA, length(values)),
    ints = I(lapply(values, function(v) as.numeric(unlist(v)))),
    floats = I(lapply(values, function(v) as.numeric(unlist(v)))),
    texts = I(lapply(values, function(v) as.character(unlist(v)))),
    object = NULL)
while (length(line <- readLines(input, n = 1)) > 0) {
    asked <- fromJSON(line, simplifyVector = FALSE)
    answer <- tryCatch({
        frame <- fromJSON(paste(readLines(asked[[1]], warn = FALSE, encoding = "UTF-8"), collapse = "\n"), simplifyVector = FALSE)
        columns <- lapply(frame$columns, function(c) column(c$kind, c$values))
        names(columns) <- vapply(frame$columns, function(c) c$name, "")
        if (any(vapply(columns, is.null, TRUE))) stop("a kind that R does not have")
        table <- structure(columns, class = "data.frame", row.names = seq_len(frame$rows))
        parts <- strsplit(asked[[3]], ",")[[1]]
        options <- list(digits = 15, pretty = isTRUE(frame$pretty), POSIXt = "ISO8601", na = if (isTRUE(frame$quoted)) "string" else "null")
        if (parts[1] == "lines") {
            out <- file(asked[[4]], "w", encoding = "UTF-8")
            stream_out(table, out, verbose = FALSE, digits = 15, na = options$na, POSIXt = "ISO8601")
            close(out)
        } else {
            text <- do.call(toJSON, c(list(table, dataframe = parts[1]), options))
            out <- file(asked[[4]], "wb")
            writeLines(enc2utf8(as.character(text)), out, useBytes = TRUE)
            close(out)
        }
        "ok"
    }, error = function(e) gsub("\\s+", " ", conditionMessage(e)))
    cat(answer, "\n", sep = "")
}
