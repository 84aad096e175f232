import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { declaredAs } from '../../../test/support/guard-story.ts'
import { exec } from '../../io/exec.ts'
import { findRuns } from './find-runs.ts'

const corpus = join(import.meta.dirname, '../../../test/corpus/guard/fake-green.jsonl')
const failing = '#!/bin/sh\nexit 7\n'

/** A project in which `npm test` fails, and a shell that runs scripts like Claude Code's tool: in an eval before `&&`. */
async function openFailing() {
  const project = await createFixture({ 'bin/npm': failing, 'root/package.json': '{}' })
  const root = join(project.path, 'root')
  await exec({ argv: ['chmod', '+x', join(project.path, 'bin/npm')], cwd: root, env: path() })
  const exitCodeOf = async (script: string): Promise<number | null> => {
    const argv = ['bash', '-c', 'eval "$1" </dev/null && pwd >/dev/null', 'bash', script] as const
    const env = { PATH: `${join(project.path, 'bin')}:${path().PATH}` }
    return (await exec({ argv, cwd: root, env, timeoutMs: 600_000 })).exitCode
  }
  const counts = (script: string): boolean =>
    findRuns(script, [declaredAs('npm test')], {
      root,
      directory: root,
      language: 'bash',
      real: (each) => each,
      read: () => null,
      tests: [],
    }).runs.some(({ why }) => why === null)
  return { root, exitCodeOf, counts, [Symbol.asyncDispose]: () => project.rm() }
}

function path(): { readonly PATH: string } {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin' }
}

test('every script of the corpus that counts fails in a real shell when the command fails', async () => {
  await using shell = await openFailing()
  const scripts = readFileSync(corpus, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((each) => each.declared === undefined && each.language === undefined)
    .map((each): string => each.command.replaceAll('/home/dev/app', shell.root))
    .filter(shell.counts)
  expect(scripts.length).toBeGreaterThan(15)
  for (const script of new Set(scripts))
    expect([script, await shell.exitCodeOf(script)]).not.toEqual([script, 0])
})

test('for any script that counts, its success is the success of the command', async () => {
  await using shell = await openFailing()
  const { script } = fc.letrec((tie) => ({
    simple: fc.constantFrom(
      'npm test',
      'npm test',
      'npm test 2>&1',
      'true',
      'false',
      'echo x',
      'set -o pipefail',
      'set -e',
      'set +o pipefail',
      'cd .',
      'exit 0',
      'exit 1',
      'timeout 9 npm test',
      'command npm test',
      "sh -c 'npm test'",
      'CI=1 npm test',
      'cat',
    ),
    part: fc.oneof(
      { maxDepth: 3 },
      tie('simple'),
      tie('simple'),
      fc
        .tuple(tie('part'), fc.constantFrom('&&', '||', '|', ';', '\n', '|&'), tie('part'))
        .map((all) => all.join(' ')),
      tie('part').map((inner) => `( ${inner} )`),
      tie('part').map((inner) => `{ ${inner} ; }`),
      tie('part').map((inner) => `! ${inner}`),
      tie('part').map((inner) => `if ${inner}; then ${inner}; fi`),
      tie('part').map((inner) => `time ${inner}`),
    ),
    script: tie('part'),
  }))
  let counted = 0
  await fc.assert(
    fc.asyncProperty(script, async (text) => {
      if (typeof text !== 'string' || !shell.counts(text)) return
      counted += 1
      expect([text, await shell.exitCodeOf(text)]).not.toEqual([text, 0])
    }),
    { numRuns: 1_500 },
  )
  expect(counted).toBeGreaterThan(50)
})
