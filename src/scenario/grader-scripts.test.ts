import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { graderScripts, missingGraderScripts, missingPrograms } from './grader-scripts.ts'

const files = {
  'check.sh': '',
  'notes.md': '',
  'scripts/check.py': '',
  'initial-state/scripts/later.sh': '',
}

test.each<[string, string[]]>([
  ['./check.sh', ['check.sh']],
  ['./check.sh notes.md', ['check.sh']],
  ['sh check.sh', ['check.sh']],
  ['bash -e ./check.sh notes.md', ['check.sh']],
  ["bash -ec 'cat notes.md'", []],
  ["node -e 'read(notes.md)'", []],
  ['bash -x ./check.sh notes.md', ['check.sh']],
  ['python3.12 scripts/check.py notes.md', ['scripts/check.py']],
  ['/usr/bin/env python3 scripts/check.py', ['scripts/check.py']],
  ['env LC_ALL=C ./check.sh', ['check.sh']],
  ['LC_ALL=C timeout 5s ./check.sh', ['check.sh']],
  ['test -e notes.md && ./check.sh || exit 1', ['check.sh']],
  ['"$LLM_TOOL_TEST_FIXTURE_DIR"/check.sh', ['check.sh']],
  ['sh "$GANTRY_FIXTURE_DIR/scripts/check.py"', ['scripts/check.py']],
  ['./scripts/later.sh', ['scripts/later.sh']],
  ['grep -q milk notes.md', []],
  ['wc -l < notes.md', []],
  ['cat notes.md | sh check.sh', ['check.sh']],
  ["sh -c 'cat notes.md'", []],
  [`python3 -c "print(open('notes.md').read())"`, []],
  ["echo 'a; ./check.sh'", []],
  ['../check.sh', []],
  ['.', []],
  ['', []],
])('%j runs %j', async (command, expected) => {
  await using template = await createFixture(files)
  expect(graderScripts([command], template.path)).toEqual(expected)
})

test('a file that several commands run is named once', async () => {
  await using template = await createFixture(files)
  expect(graderScripts(['./check.sh a', 'sh ./check.sh b; ./check.sh'], template.path)).toEqual(['check.sh'])
})

test.each<[string, string[]]>([
  ['./nope.sh x', ['./nope.sh']],
  ['sh nope.sh', ['nope.sh']],
  ['bash -eu scripts/nope', ['scripts/nope']],
  ['LC_ALL=C python3 scripts/nope.py notes.md', ['scripts/nope.py']],
  ['. ./env.sh', ['./env.sh']],
  ['python3 scripts/check.py nope.py', []],
  ['python3 -m pytest nope.py', []],
  ["perl -e 'nope.pl'", []],
  ['bash -c ./nope.sh', []],
  ['bash -o pipefail nope.sh', []],
  ['sh /opt/nope.sh', []],
  ['sh "$HOME/nope.sh"', []],
  ['node nope', []],
  ['cat nope.txt', []],
  ['test -e x.sh && sh x.sh', []],
])('of %j, %j are missing', async (command, expected) => {
  await using template = await createFixture(files)
  expect(missingGraderScripts([command], template.path)).toEqual(expected)
})

test.each<[string, string[]]>([
  ['nosuchprogram --x', ['nosuchprogram']],
  ['timeout 5 nosuchprogram', ['nosuchprogram']],
  ['true', []],
  ['cd x && nosuchprogram', []],
  ['nosuchprogram || true', []],
  ['command -v nosuchprogram', []],
  ['nosuchprogram() { true; }; nosuchprogram', []],
  ['for x in a; do true; done', []],
  ['[ -e x ]', []],
  ['$CHECK x', []],
  ['check.sh', ['check.sh']],
])('of %j, the programs %j are missing', async (command, expected) => {
  await using empty = await createFixture({})
  expect(missingPrograms([command], empty.path)).toEqual(expected)
})
