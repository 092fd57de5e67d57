# The Chinese documents, which are in the tree as they are in English: po4a makes them of the English ones and zh.po.
EXTRA_DIST += po/glossary.zh.md po/join.awk po/lesson.zh.po po/split.awk po/translate.sh po/zh.po
dist_check_SCRIPTS += po/check_translations.sh
TESTS += po/check_translations.sh

# After a change of the documents or of zh.po: see the difference with git, and translate what is named.
.PHONY: renew-translations
renew-translations:
	@. ./tests/environment.sh; sh $(top_srcdir)/po/translate.sh translations.new && \
	cp -R translations.new/tree/. $(top_srcdir) && cp translations.new/zh.po translations.new/lesson.zh.po $(top_srcdir)/po && \
	cat translations.new/stale && rm -rf translations.new
