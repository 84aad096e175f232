import { expect, test } from 'vitest'
import { proofText } from './proof-text.ts'
import type { GuardProof } from './prove.ts'

const gate = { expected: 'that it is refused', seen: 'refused', why: null, durationMs: 1200 }
const proof: GuardProof = {
  verdict: 'fires',
  switchedOff: ['No file is protected.'],
  agents: [
    {
      name: 'mine',
      agent: 'claude-code',
      version: '2.1.197',
      problem: null,
      installation: {
        state: 'same',
        paths: ['/p/.claude/settings.local.json'],
        seal: 'intact',
        problems: [],
      },
      durationMs: 30_000,
      gates: [
        { ...gate, gate: 'deny', verdict: 'fires' },
        { ...gate, gate: 'fail closed', verdict: 'cannot be enforced', why: 'Too old a version.' },
      ],
    },
    {
      name: 'cursor',
      agent: 'cursor',
      version: null,
      problem: 'cursor cannot be run',
      installation: { state: 'absent', paths: [], seal: 'none', problems: [] },
      durationMs: 1,
      gates: [],
    },
  ],
}

test('the text shows the agent, the result of each gate, and in full what cannot be enforced', () => {
  const text = proofText(proof, { columns: 120, tableWidth: Infinity, color: false })
  expect(text).toContain('mine (claude-code) 2.1.197, in 30.0s')
  expect(text).toMatch(/GATE +EXPECTED +SEEN +VERDICT +TIME/)
  expect(text).toMatch(/deny +that it is refused +refused +fires +1\.2s/)
  expect(text).toContain('fail closed cannot be enforced: Too old a version.')
  expect(text).toContain('with the same program and arguments as in this proof')
  expect(text).toContain('The seal is intact.')
  expect(text).toContain('cursor cannot be run')
  expect(text).toContain('No file is protected.')
  expect(text.trimEnd().endsWith('Everything that can be enforced fires.')).toBe(true)
})

test('a narrow terminal still shows the verdicts', () => {
  const text = proofText(proof, { columns: 60, tableWidth: 60, color: false })
  expect(text).toMatch(/deny .*fires/)
  const table = text.split('\n').filter((line) => line.includes('fires') || line.includes('VERDICT'))
  for (const line of table) expect(line.length).toBeLessThanOrEqual(60)
})
