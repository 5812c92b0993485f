# What each command line finds: a repository with a remote beside it, and files of every kind.
set -e
mkdir home work
git init -q --bare -b main remote.git
cd work
git init -q -b main .
mkdir -p src/lib docs build/cache logs db/migrations empty bin
printf 'alpha\nbeta\ngamma\n' > a.txt
printf 'one\ntwo\nthree\n' > b.txt
printf '# Notes\n\nTODO: write\n' > notes.md
printf 'id,name\n2,bob\n1,ann\n' > data.csv
printf '{"name":"x","version":"1.0.0","list":[1,2]}\n' > data.json
printf 'port: 80\n' > config.yml
printf 'TOKEN=abc\n' > .env
printf 'import util\nprint(util.VALUE)\n' > src/main.py
printf 'VALUE = 1\n' > src/util.py
printf 'module.exports = 1\n' > src/lib/mod.js
printf 'read me\n' > docs/readme.md
printf 'guide\n' > docs/guide.md
printf 'create table t (id int);\n' > db/migrations/001.sql
printf 'drop table t;\n' > db/migrations/002.sql
printf 'schema\n' > db/schema.sql
printf 'a.txt\nb.txt\n' > list.txt
printf '#!/bin/bash\necho hi > from-script.txt\ncat a.txt\n' > script.sh
printf 'open("from-python.txt", "w").write("x")\n' > tool.py
printf 'require("fs").writeFileSync("from-node.txt", "x")\n' > index.js
printf 'all: made.txt\n\nmade.txt:\n\tcp a.txt made.txt\n\nclean:\n\trm -f made.txt b.txt\n' > Makefile
printf '{"name":"p","scripts":{"build":"cp a.txt built.txt","clean":"rm -f b.txt"}}\n' > package.json
printf 'build/\nlogs/\n*.tmp\n' > .gitignore
chmod +x script.sh
git add -A
git commit -q -m one
git tag v1
git remote add origin ../remote.git
git push -q -u origin main
git branch feature
git checkout -q -b dev
printf 'delta\n' >> a.txt
printf 'new on dev\n' > dev.txt
git add -A
git commit -q -m 'on dev'
git push -q -u origin dev
git push -q origin feature
git diff HEAD~1 -- a.txt > ../change.patch
printf 'more\n' > dev2.txt
git add -A
git commit -q -m 'ahead on dev'
git checkout -q main
printf 'port: 81\n' > config.yml
printf 'local\n' > local.txt
git add -A
git commit -q -m 'ahead on main'
git tag v2
git branch ahead
mv ../change.patch .
printf 'object\n' > build/out.o
printf 'cached\n' > build/cache/x
printf 'line\n' > logs/app.log
printf 'old\n' > logs/old.log
printf 'tmp\n' > scratch.tmp
printf 'untracked\n' > untracked.txt
printf 'more\n' >> notes.md
printf 'staged\n' > staged.txt
git add staged.txt
tar cf archive.tar docs db/schema.sql
tar czf archive.tgz docs
gzip -k data.csv
ln -s a.txt link
if command -v zip > /dev/null; then zip -q archive.zip docs/readme.md docs/guide.md; fi
