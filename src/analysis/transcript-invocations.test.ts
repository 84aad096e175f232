import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TargetInvocation } from './contract.ts'
import { findTranscriptInvocations } from './transcript-invocations.ts'

describe('findTranscriptInvocations', () => {
  test('finds lines that begin with the binary, with or without a prompt', () => {
    expect(
      find('$ tool add milk\nok\n> tool list\n  ./tool done 1\ntool --help\nI used tool add\nmytool x').map(
        commandOf,
      ),
    ).toEqual(['tool add milk', 'tool list', './tool done 1', 'tool --help'])
  })

  test('finds the subcommand and help', () => {
    expect(find('$ tool add --help')).toMatchObject([{ subcommand: 'add', help: true }])
  })

  test('ignores colours, carriage returns and the path of the binary', () => {
    const text = '\u001b[32m$ \u001b[1mtool\u001b[0m   add milk\u001b[0m\r\nexit code 2\r\n'
    expect(find(text, { binary: './bin/tool' })).toMatchObject([{ command: 'tool add milk', exitCode: 2 }])
  })

  test.each([
    ['exit code 3', 3],
    ['Exit status: 4', 4],
    ['process exited with code 5', 5],
    ['exited with status=127', 127],
    ['error: exit code: -1', -1],
    ['exit code 0', 0],
  ])('takes the exit code from "%s"', (line, exitCode) => {
    expect(find(`$ tool add\nsome output\n${line}\n`)).toMatchObject([{ exitCode, approximate: true }])
  })

  test('an error word alone is not an exit code: the end stays unknown', () => {
    expect(find('$ tool add\nerror: failed, non-zero')).toMatchObject([
      { exitCode: null, approximate: false },
    ])
  })

  test('never gives one command the exit code of the next', () => {
    expect(find('$ tool a\n$ tool b\nexit code 2\n$ tool c').map(exitOf)).toEqual([null, 2, null])
  })

  test('the first phrase after a command counts, and one before any command is ignored', () => {
    expect(find('exit code 9\n$ tool a\nexit code 1\nexit code 2').map(exitOf)).toEqual([1])
  })

  test.each(['tool error: no such task', 'tool exit code 2', 'tool failed', 'tool Error'])(
    'skips the status line "%s"',
    (line) => {
      expect(find(line)).toEqual([])
    },
  )

  test('a pattern decides which lines are commands and what the subcommand is', () => {
    const target = { binary: 'tool', command_pattern: 'run: tool\\s+(\\S+)' }
    expect(find('> run: tool add  x\ntool list', target)).toMatchObject([
      { command: 'run: tool add x', subcommand: 'add' },
    ])
    expect(find('run: tool error', target)).toEqual([])
    expect(find('tool add x', { binary: 'tool', command_pattern: 'tool' })).toMatchObject([
      { subcommand: null },
    ])
  })

  test('a blank pattern is absent, an invalid one finds nothing and says so', () => {
    expect(find('tool add', { binary: 'tool', command_pattern: ' ' })).toHaveLength(1)
    const bad = findTranscriptInvocations('tool add', { binary: 'tool', command_pattern: '(' })
    expect(bad.invocations).toEqual([])
    expect(bad.notes).toHaveLength(1)
  })

  test('a binary with special characters is matched literally', () => {
    expect(find('$ c++filt add\n$ cccfilt add', { binary: 'c++filt' })).toHaveLength(1)
  })

  test('hostile text does not hang it', () => {
    find(`tool a\nexit code${' '.repeat(200_000)}\n${'tool '.repeat(100_000)}\n${'/'.repeat(200_000)}`)
  })
})

test('an exit code is never read beyond the next command', () => {
  const line = fc.constantFrom('$ tool a', '$ tool b x', 'output', 'exit code 1', 'exit status 0', '')
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const found = find(lines.join('\n'))
      const blocks = lines.join('\n').split('$ tool').slice(1)
      expect(found).toHaveLength(blocks.length)
      for (const [index, { exitCode }] of found.entries())
        expect(exitCode !== null).toBe(/exit (code|status)/.test(blocks[index] ?? ''))
    }),
  )
})

function find(
  text: string,
  target: Parameters<typeof findTranscriptInvocations>[1] = { binary: 'tool' },
): readonly TargetInvocation[] {
  return findTranscriptInvocations(text, target).invocations
}

function commandOf({ command }: TargetInvocation): string {
  return command
}

function exitOf({ exitCode }: TargetInvocation): number | null {
  return exitCode
}
