import { expect, test } from 'vitest'
import { type Snapshot, snapshotText } from './take-snapshot.ts'

const snapshot: Snapshot = {
  trigger: 'task_start',
  at: new Date('2026-01-02T03:04:05Z'),
  scoutA: '{"schema_version": "1",   "x": "```"}',
  scoutB: null,
  hypothesis: 'a\nb',
  filesModified: ['src/a.ts'],
  verifyAttempts: 1,
  counters: { consecutiveFailures: 1, totalVerifyLoops: 1, replans: 0 },
  decisions: [{ question: 'which runner', decision: 'vitest', rationale: 'package.json names it' }],
}

test('a Scout’s answer is stored byte for byte and cannot end its block', () => {
  const text = snapshotText(snapshot)
  expect(text).toContain(`\n\`\`\`\`json\n${snapshot.scoutA}\n\`\`\`\`\n`)
  expect(text).toContain('## Scout B Report\n\nNot asked.')
  expect(text).toContain('- Hypothesis: a b\n- Files modified: src/a.ts\n- Verify attempts: 1\n')
  expect(text).toContain('- which runner: vitest, because package.json names it')
})
