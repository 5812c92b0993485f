/* The least that recording an event takes: the file is read, written anew beside itself, renamed.
   Without an argument it does nothing, which is what starting it costs. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char text[1 << 21], staged[4096];

int main(int count, char **arguments) {
    if (count < 2) return 0;
    int file = open(arguments[1], O_RDONLY);
    long length = read(file, text, sizeof text);
    snprintf(staged, sizeof staged, "%s.tmp", arguments[1]);
    int copy = open(staged, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (length < 0 || write(copy, text, length) != length) return 1;
    return rename(staged, arguments[1]) != 0;
}
