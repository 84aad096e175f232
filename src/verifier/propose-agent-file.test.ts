import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { proposeAgentFile } from './propose-agent-file.ts'

test('lines of CI that print a version, change files, publish, need a nightly Rust, or repeat a script of package.json are not proposed', async () => {
  await using fixture = await createFixture({
    'package.json': JSON.stringify({ scripts: { test: 'vitest', lint: 'eslint .' } }),
    '.github/workflows/ci.yml': [
      'npx tsc --version',
      'npm lint',
      'rustc -vV',
      'npm run style:fix',
      'npx tsc -p .',
      'cargo build -Z avoid-dev-deps',
    ]
      .map((line) => `      - run: ${line}\n`)
      .join(''),
    '.github/workflows/publish.yaml': '      - run: uv build\n',
  })
  const { steps } = await proposeAgentFile(fixture.path)
  expect(steps.map(({ command }) => command)).toEqual(['npx tsc -p .', 'npm test', 'npm run lint'])
})

test('a Makefile without a test is built', async () => {
  await using fixture = await createFixture({ Makefile: 'all: program\n\nprogram:\n\tcc program.c\n' })
  expect(await proposeAgentFile(fixture.path)).toMatchObject({ steps: [{ command: 'make', kind: 'build' }] })
})
