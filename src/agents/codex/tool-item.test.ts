import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unwrapShell } from './tool-item.ts'

test.each([
  [`/bin/bash -lc 'echo hello > hello.txt'`, 'echo hello > hello.txt'],
  [`bash -lc ls`, 'ls'],
  [`/usr/bin/zsh -lc "echo \\"a\\" && echo '\\$b'"`, `echo "a" && echo '$b'`],
  [`sh -c 'it'\\''s'`, `it's`],
  [`/bin/bash -lc "line one\nline two"`, 'line one\nline two'],
])('%j runs %j', (command, inner) => {
  expect(unwrapShell(command)).toBe(inner)
})

test.each(['ls -la', `bash script.sh`, `/bin/bash -lc 'open`, `bash -lc 'a' extra`, '', `fish -c 'x'`])(
  '%j is left as it is',
  (command) => {
    expect(unwrapShell(command)).toBe(command)
  },
)

test('anything a shell can quote comes back as it was', () => {
  fc.assert(
    fc.property(fc.string(), (inner) => {
      expect(unwrapShell(`/bin/bash -lc '${inner.replaceAll("'", `'\\''`)}'`)).toBe(inner)
    }),
  )
})

test('the words are those a real shell finds', () => {
  const command = `/bin/bash -lc "a \\\\ \\x 'q' \\"d\\"" `
  const real = execFileSync('sh', ['-c', `set -- ${command}; printf %s "$3"`], { encoding: 'utf8' })
  expect(unwrapShell(command)).toBe(real)
})
