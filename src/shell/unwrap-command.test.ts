import { describe, expect, test } from 'vitest'
import { argOf } from './shell-state.ts'
import { unwrapCommand, unwrapPlain } from './unwrap-command.ts'

describe('a command without its wrappers', () => {
  test.each([
    ['env A=1 timeout -k 1 5 nice -n 5 tool a', 'tool a'],
    ['sudo -u me -D /tmp tool a', 'tool a'],
    ['yarn run tool a', 'tool a'],
    ['pnpm exec tool a', 'tool a'],
    ['uv --directory x run tool a', 'tool a'],
    ['python -W ignore -m tool a', 'tool a'],
    ['deno run -A tool.ts a', 'tool.ts a'],
    ['find . -name x -exec tool {} ;', 'tool {}'],
    ['xargs -n 1 tool a', 'tool a'],
    ['setarch linux64 tool a', 'tool a'],
  ])('%s', (command, inner) => {
    expect(words(unwrapCommand(args(command)).layers.at(-1))).toBe(inner)
  })

  test('is the command itself when it has none', () => {
    expect(unwrapCommand(args('yarn add tool')).layers).toHaveLength(1)
    expect(unwrapCommand(args('command -v tool')).layers).toHaveLength(1)
  })

  test('may be a script', () => {
    const script = [argOf('bash'), argOf('-euo'), argOf('pipefail'), argOf('-c'), argOf('tool a | cat')]
    expect(unwrapCommand([argOf('env'), ...script]).script).toEqual({
      source: 'tool a | cat',
      pipefail: true,
    })
  })
})

test.each([
  ['command npx tool', 'npx tool'],
  ['timeout 5 nohup tool', 'nohup tool'],
  ['timeout --preserve-status 5 tool', 'timeout --preserve-status 5 tool'],
  ['nice --help tool', 'nice --help tool'],
  ['env -u A tool', 'env -u A tool'],
])('only wrappers that change nothing are taken off as plain: %s', (command, inner) => {
  const outer = { assignments: [], words: command.split(' '), fed: false }
  expect(unwrapPlain(outer).command.words.join(' ')).toBe(inner)
})

function args(command: string) {
  return command.split(' ').map(argOf)
}

function words(layer: readonly { readonly value: string }[] | undefined): string {
  return (layer ?? []).map(({ value }) => value).join(' ')
}
