import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Lab, type LabOptions, openLab, sum, tested, write } from '../../../test/support/task-lab.ts'
import { openTree } from '../open-tree.ts'
import { type Proposal, proposalSchema } from './proposal.ts'

const labs: Lab[] = []
afterEach(() => {
  for (const lab of labs.splice(0)) lab[Symbol.dispose]()
})

function lab(options: LabOptions): Lab {
  const opened = openLab(options)
  labs.push(opened)
  return opened
}

const status = (root: string): string =>
  execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })

async function proposed(from: Lab): Promise<Proposal> {
  const { end, events } = await from.run({ dryRun: true })
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(events.filter(({ kind }) => kind === 'verifier_trigger')).toHaveLength(1)
  expect(end.proposal?.verification?.run_id).toBe(end.runIds[0])
  if (end.proposal === null) throw new Error('no proposal')
  const kept = JSON.parse(readFileSync(join(from.store.runsDir, end.runId, 'reports/proposal.json'), 'utf8'))
  expect(proposalSchema.parse(kept)).toEqual(end.proposal)
  return end.proposal
}

const options: LabOptions = {
  files: { 'old.txt': 'old\n', 'bare.txt': 'no newline', 'run.sh': '#!/bin/sh\n' },
  edits: [
    [
      sum('+'),
      tested(1),
      { delete: 'old.txt' },
      write('bare.txt', 'still no newline'),
      { run: "printf '\\000\\001\\377' > data.bin" },
      { run: 'chmod +x run.sh' },
    ],
    [sum('*')],
  ],
}

test('a dry run changes nothing, and its patch works with git apply', async () => {
  const from = lab(options)
  symlinkSync('/etc/hostname', join(from.root, 'leads-out'))
  const before = status(from.root)
  const proposal = await proposed(from)
  expect(status(from.root)).toBe(before)
  expect(existsSync(join(from.root, 'agent'))).toBe(false)
  expect(existsSync(join(from.root, '.gitignore'))).toBe(false)
  expect(proposal.changes.map(({ path, change }) => `${change} ${path}`)).toEqual([
    'modified bare.txt',
    'added data.bin',
    'deleted old.txt',
    'modified run.sh',
    'modified src/add.js',
    'added test/more.test.js',
  ])
  for (const text of [
    '--- a/src/add.js',
    '+++ b/src/add.js',
    '+++ /dev/null',
    '--- /dev/null',
    'No newline at end',
  ])
    expect(proposal.diff).toContain(text)
  writeFileSync(join(from.top, 'p.patch'), Buffer.from(proposal.patch, 'base64'))
  execFileSync('git', ['apply', join(from.top, 'p.patch')], { cwd: from.root })
  expect(readFileSync(join(from.root, 'data.bin'))).toEqual(Buffer.from([0, 1, 255]))
  expect(statSync(join(from.root, 'run.sh')).mode & 0o100).toBe(0o100)
  expect(existsSync(join(from.root, 'old.txt'))).toBe(false)
})

test('a dry run verifies its proposal once and says the result', async () => {
  const good = await lab({ edits: [[sum('+'), tested(1)]] }).run({ dryRun: true })
  expect(good.end.reason).toBe('the proposal is ready, and every step of its verification passed')
  expect(good.end.proposal?.verification).toMatchObject({ status: 'PASS', failure: null, weakened: [] })
  const bad = await lab({ edits: [[sum('*'), tested(1)], [sum('+')]] }).run({ dryRun: true })
  expect(bad.end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  expect(bad.end.reason).toMatch(/^the proposal is ready, but its verification failed: \S/)
  expect(bad.end.proposal?.verification).toMatchObject({ status: 'FAIL', weakened: [] })
  expect(bad.events.filter(({ kind }) => kind === 'edit')).toHaveLength(1)
  expect(JSON.stringify(bad.events)).not.toContain('debugging')
})

test('a proposal that passes because the checks are weaker says so', async () => {
  const weak = lab({
    files: { 'test/old.test.js': "import test from 'node:test'\ntest('a', () => {})\ntest('b', () => {})\n" },
    edits: [[sum('+'), tested(1), { delete: 'test/old.test.js' }]],
  })
  const { end } = await weak.run({ dryRun: true })
  expect(end.state).toBe('SUCCESS')
  expect(end.reason).toContain('but the steps prove less than before: ')
  expect(end.proposal?.verification).toMatchObject({
    status: 'PASS',
    weakened: [expect.stringContaining('old.test.js')],
  })
})

test('an applied proposal is verified and debugged like any other change', async () => {
  const from = lab({ edits: [[sum('*'), tested(1)]] })
  const proposal = await proposed(from)
  writeFileSync(join(from.top, 'editor.yaml'), JSON.stringify({ name: 'e', turns: [sum('+')] }))
  const { end, events } = await from.run({ proposal })
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 2 })
  expect(events).toContainEqual(expect.objectContaining({ milestone: 'applying' }))
  const diffs = events.filter(({ kind }) => kind === 'diff')
  expect(diffs[0]).toMatchObject({ text: proposal.diff })
  expect(existsSync(join(from.root, 'test/more.test.js'))).toBe(true)
  const scouts = events.flatMap((event) => (event.kind === 'scout_query' ? [event.scout] : []))
  expect(scouts).toEqual(['scout_b'])
})

test('a tree that changed since the proposal is refused with a list and left unchanged', async () => {
  const from = lab({ edits: [[sum('+'), tested(1)]] })
  const proposal = await proposed(from)
  writeFileSync(join(from.root, 'src/add.js'), 'mine\n')
  writeFileSync(join(from.root, 'test/more.test.js'), 'mine too\n')
  const { end } = await from.run({ proposal })
  expect(end.state).toBe('STUCK')
  expect(end.reason).toContain('src/add.js has changed')
  expect(end.reason).toContain('test/more.test.js exists now')
  expect(readFileSync(join(from.root, 'src/add.js'), 'utf8')).toBe('mine\n')
})

test.each(['../x', '/etc/x', 'a/../../x', '.git/hooks/x', 'sub/.GIT/x', './a', 'a//b'])(
  'a proposal for %s is refused',
  (path) => {
    const value = {
      schema_version: '1',
      task_id: 't',
      run_id: 'r',
      description: '',
      strategy: '',
      changes: [{ path, change: 'added', original: null }],
      diff: '',
      patch: '',
    }
    expect(() => proposalSchema.parse(value)).toThrow(/leads out/)
  },
)

test('a proposal must not write protected files, nor more files than it lists', async () => {
  const from = lab({ edits: [[sum('+'), tested(1)]] })
  const proposal = await proposed(from)
  const forged: Proposal = {
    ...proposal,
    changes: [...proposal.changes, { path: 'agent.yaml', change: 'modified', original: null }],
  }
  const { end } = await from.run({ proposal: forged })
  expect(end.reason).toContain('agent.yaml')
  const silent: Proposal = { ...proposal, changes: proposal.changes.slice(0, 1) }
  const second = await from.run({ proposal: silent })
  expect(second.end.reason).toContain('changes more than the proposal lists')
  const outward = '--- /dev/null\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+x\n'
  const patched: Proposal = { ...proposal, patch: Buffer.from(outward).toString('base64') }
  const third = await from.run({ proposal: patched })
  expect(third.end.reason).toContain('cannot be applied')
  expect(existsSync(join(from.top, 'out.txt'))).toBe(false)
  expect(readFileSync(join(from.root, 'src/add.js'), 'utf8')).toContain('a - b')
})

test('text in any encoding survives a proposal', async () => {
  const from = lab({ edits: [[]] })
  const tree = await openTree({
    dir: join(from.top, 'shadow.git'),
    root: from.root,
    leaveOut: [],
    env: process.env,
  })
  const before = await tree.take()
  const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a])
  writeFileSync(join(from.root, 'latin.txt'), latin)
  chmodSync(join(from.root, 'latin.txt'), 0o755)
  const patch = await tree.patch(before, await tree.take())
  await tree.putBack(before, ['latin.txt'])
  expect(await tree.apply(patch)).toBeNull()
  expect(readFileSync(join(from.root, 'latin.txt'))).toEqual(latin)
})
