import { expect, test } from 'vitest'
import { guardStory } from '../../test/support/guard-story.ts'
import { refuseUnseenInput } from './refuse-unseen-input.ts'

function verdictOn(command: string, agent: 'codex' | 'claude-code' = 'codex'): string {
  const call = {
    id: 'c1',
    tool: 'Bash',
    action: { kind: 'shell', command, background: false, language: 'bash' },
    input: { command },
  } as const
  return guardStory([refuseUnseenInput]).send({ kind: 'tool_before', call, agent }).verdict
}

test.each([
  'sh',
  'bash -i',
  '/bin/zsh -l',
  'env FOO=1 bash',
  'cd src && python3',
  'python3 -q',
  'node',
  'sh -',
])('an agent that can type into a running program may not open one without input: %s', (command) => {
  expect(verdictOn(command)).toBe('deny')
})

test.each([
  'sh build.sh',
  'bash -c "ls"',
  'python3 -m pytest',
  'python3 --version',
  'node --test',
  'node server.js',
  "python3 <<'EOF'\nprint(1)\nEOF",
  'cat setup.sh | sh',
  'npm test',
  'ls',
])('a program with something to run is judged by that: %s', (command) => {
  expect(verdictOn(command)).toBe('pass')
})

test('agents that cannot type into a running program are not affected', () => {
  expect(verdictOn('bash', 'claude-code')).toBe('pass')
})
