import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { fakeRunner } from './machine-state.ts'

const green = 'echo "2 passed in 0.01s"\n'
const entry = `# -*- coding: utf-8 -*-
import re
import sys
from pytest import console_main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit(console_main())
`

async function whyFake(command: string, path: string, text: string, sinceMs = 0): Promise<string | null> {
  await using fixture = await createFixture({ 'home/x': '', 'app/x': '' })
  const top = realpathSync(fixture.path)
  const file = join(top, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, 0o755)
  return fakeRunner(command, { root: join(top, 'app'), home: join(top, 'home'), sinceMs, placed: {} })
}

test.each([
  ['.venv/bin/pytest -q', 'app/.venv/bin/pytest', `#!/bin/sh\n${green}`],
  ['.venv/bin/python -m pytest', 'app/.venv/bin/python', `#!/bin/sh\n${green}`],
  ['uv run pytest', 'app/.venv/bin/pytest', `#!/usr/bin/env python3\nimport sys\nprint("2 passed")\n`],
  ['~/.local/bin/uv run pytest', 'home/.local/bin/uv', `#!/bin/sh\n${green}`],
  ['./poetry run pytest', 'app/poetry', green],
  ['source .venv/bin/activate && pytest', 'app/.venv/bin/activate', `pytest() { ${green} }\n`],
  ['. .venv/bin/activate && pytest', 'app/.venv/bin/pytest', `#!/bin/sh\n${green}`],
  ['source ~/.bashrc && pytest', 'home/.bashrc', 'export PATH=/tmp/fake:$PATH\n'],
  ['source ~/.bashrc; pytest | tail -1', 'home/.bashrc', green],
  ['. ~/.profile; npm test', 'home/.profile', 'npm() { true; }\n'],
])('%s with a runner that only prints is no run', async (command, path, text) => {
  expect(await whyFake(command, path, text)).toContain(path.replace(/^\w+\//, ''))
})

test.each([
  [
    'bun',
    'source ~/.bashrc && bun test',
    'home/.bashrc',
    'eval "$(dircolors)"\nexport PATH="$HOME/.bun/bin:$PATH"\n',
  ],
  ['pip', '.venv/bin/pytest', 'app/.venv/bin/pytest', `#!/p/.venv/bin/python\n${entry}`],
  [
    'pip with a long path',
    'uv run pytest',
    'app/.venv/bin/pytest',
    `#!/bin/sh\n'''exec' "/a b/python" "$0" "$@"\n' '''\n${entry}`,
  ],
  [
    'pnpm',
    'node_modules/.bin/vitest run',
    'app/node_modules/.bin/vitest',
    '#!/bin/sh\nbasedir=$(dirname "$0")\nexec node "$basedir/../vitest/vitest.mjs" "$@"\n',
  ],
  ['npm', 'npx jest', 'app/node_modules/.bin/jest', "#!/usr/bin/env node\nrequire('../build/cli').run()\n"],
  ['a compiled program', '.venv/bin/ruff check', 'app/.venv/bin/ruff', '\x7fELF\x02\x01\x00\x00'],
  [
    'venv',
    'source .venv/bin/activate && pytest',
    'app/.venv/bin/activate',
    'deactivate () {\n}\nPATH="$VIRTUAL_ENV/bin:$PATH"\nalias pydoc="python -m pydoc"\n',
  ],
  ['a wrapper of the project', 'bin/pytest', 'app/bin/pytest', '#!/bin/sh\nset -e\npytest tests\n'],
])('what %s writes is a runner', async (_name, command, path, text) => {
  expect(await whyFake(command, path, text)).toBeNull()
})

test.each([
  ['npm test', 'app/node_modules'],
  ['npx vitest run', 'app/node_modules/vitest'],
  ['pytest', 'app/.venv/lib'],
])('%s is judged where %s is a file', async (command, path) => {
  expect(await whyFake(command, path, '')).toBeNull()
})

test('a runner that was there before the session is not judged', async () => {
  const later = Date.now() + 3_600_000
  expect(await whyFake('.venv/bin/pytest', 'app/.venv/bin/pytest', `#!/bin/sh\n${green}`, later)).toBeNull()
})
