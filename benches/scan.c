/* scan: the bare cost of looking at a directory. With an argument it reads that directory once and
 * ends, without one it only ends; the difference of the two is the scan. Link it statically. */
#include <dirent.h>
#include <stddef.h>

int main(int argc, char **argv) {
    int entries = 0;
    if (argc > 1) {
        DIR *directory = opendir(argv[1]);
        if (directory == NULL)
            return 1;
        while (readdir(directory) != NULL)
            entries++;
        closedir(directory);
    }
    return argc > 1 && entries < 3;
}
