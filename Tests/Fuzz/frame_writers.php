<?php
// Writes frames as PHP's json_encode writes them. frames.py starts it once; see frame_writers.py for what it reads and prints.
ini_set('serialize_precision', '-1');
echo json_encode(['php' => PHP_VERSION]), "\n";
while (($line = fgets(STDIN)) !== false) {
    [$path, , $shape, $output] = json_decode($line, true);
    $frame = json_decode(file_get_contents($path), true, 512, JSON_BIGINT_AS_STRING);
    $flags = ($frame['pretty'] ? JSON_PRETTY_PRINT : 0) | ($frame['ascii'] ? 0 : JSON_UNESCAPED_UNICODE) | ($frame['quoted'] ? JSON_UNESCAPED_SLASHES : 0);
    $flags |= $frame['denormals'] ? JSON_PRESERVE_ZERO_FRACTION : 0;
    $columns = [];
    foreach ($frame['columns'] as $column) {
        $values = $column['values'];
        if ($column['kind'] === 'float') {
            $values = array_map(fn($value) => $value === null ? null : (float) $value, $values);
        }
        $columns[$column['name']] = $values;
    }
    $rows = [];
    for ($at = 0; $at < $frame['rows']; $at++) {
        $row = [];
        foreach ($columns as $name => $values) {
            $row[$name] = $values[$at];
        }
        $key = $frame['index'] === null ? $at : $frame['index'][$at];
        $rows[$key] = $row;
    }
    if ($shape === 'lines') {
        $flags &= ~JSON_PRETTY_PRINT;
        $text = implode('', array_map(fn($row) => json_encode($row, $flags) . "\n", $rows));
    } elseif ($shape === 'columns') {
        $text = json_encode($columns, $flags);
    } elseif ($shape === 'values') {
        $text = json_encode(array_map('array_values', array_values($rows)), $flags);
    } else {
        $text = json_encode($rows, $flags);
    }
    if ($text === false || json_last_error() !== JSON_ERROR_NONE) {
        echo json_last_error_msg(), "\n";
        continue;
    }
    file_put_contents($output, $text);
    echo "ok\n";
}
