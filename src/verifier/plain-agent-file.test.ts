import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GantryError } from '../core/error.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { readAgentFile } from './agent-file.ts'
import { plainAgentFile } from './plain-agent-file.ts'

function read(text: string) {
  using scratch = temporaryDirectory('gantry-plain-agent-')
  writeFileSync(join(scratch.path, 'agent.yaml'), text)
  const plain = plainAgentFile(scratch.path)
  try {
    return { plain, whole: readAgentFile(scratch.path) }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { plain, whole: null }
  }
}

const steps = 'steps: [{ name: test, command: npm test }]'
const file = (...lines: readonly string[]): string =>
  ['verification:', ...lines.map((line) => `  ${line}`)].join('\n')

test.each([
  file('container_image: node:24', steps),
  file('container_image: " node:24 "', 'workspace: overlay', 'network: allow', steps),
  file('container_image: none', 'steps:', '  - name: a/b', '    command: make -j2 test', '    timeout: 500'),
  `${file('container_image: none', steps)}\ntimeouts:\n  verification_step: 1000\n  scout_query: 5\n`,
  file('container_image: none', 'env:', '  A: text', '  B: 1.50', '  C: true', steps),
])('a plain file is read as the whole reader reads it: %j', (text) => {
  const { plain, whole } = read(text)
  expect(plain).not.toBeNull()
  expect(plain).toEqual(whole)
})

test.each([
  file('container_image: none', 'limits: { memory: 256m }', steps),
  file('container_image: none', 'caches: [{ name: npm, path: /cache }]', steps),
  `${file('container_image: none', steps)}\nmonorepo: { package: . }\n`,
  file('container_image: none', 'steps:', '  - name: a', '    command: |', '      one', '      two'),
])('what is not plain is left to the whole reader: %j', (text) => {
  const { plain, whole } = read(text)
  expect(plain).toBeNull()
  expect(whole).not.toBeNull()
})

test.each([
  file(steps),
  file('container_image: 24', steps),
  file('container_image: none'),
  file('container_image: none', 'steps: none'),
  file('container_image: none', 'steps: [{ name: a }]'),
  file('container_image: none', 'steps: [{ name: a, command: b, shell: sh }]'),
  file('container_image: none', 'steps: [{ name: a, command: b, timeout: 0 }]'),
  file('container_image: none', 'steps: [{ name: a, command: b, timeout: 1.5 }]'),
  file('container_image: none', 'steps: [{ name: a, command: b, timeout: 2147483648 }]'),
  file('container_image: none', 'steps: [{ name: " ", command: b }]'),
  file('container_image: none', 'workspace: writable', steps),
  file('container_image: none', 'network: true', steps),
  file('container_image: none', 'env: { TMPDIR: x }', steps),
  file('container_image: none', 'env: { A: [b] }', steps),
  file('container_image: none', 'env: text', steps),
  file('container_image: none', 'image: b', steps),
  `${file('container_image: none', steps)}\ntimeouts: { step: 1 }\n`,
  `${file('container_image: none', steps)}\nother: 1\n`,
  'verification: text\n',
])('what is wrong is left to the whole reader, which refuses it: %j', (text) => {
  expect(read(text)).toEqual({ plain: null, whole: null })
})

test('a file that is not there is left to the whole reader', () => {
  using scratch = temporaryDirectory('gantry-plain-agent-')
  expect(plainAgentFile(scratch.path)).toBeNull()
})
