import { expect, test } from 'vitest'
import { relayCompaction } from '../../src/guard/prove/gates/context.ts'
import { denialsIn, endsIn, notesIn, refusalsIn } from '../../src/guard/prove/observations.ts'
import { protectFiles } from '../../src/rules/protect-files.ts'
import { refuseUnseenInput } from '../../src/rules/refuse-unseen-input.ts'
import { describeGuard } from './support/guard.conformance.ts'
import { type GuardedStage, isThere } from './support/guarded-stage.ts'

describeGuard('codex', {
  // It does not tell its hooks how a command ended.
  verify: () => 'gantry guard verify',
  evidenceBy: 'guard',
  also: (stage) => {
    testPatches(stage)
    testOwnRuns(stage)
    testTrust(stage)

    test('after a compaction the model is told the state of the work', async () => {
      expect(await relayCompaction.play(stage().proof)).toMatchObject({ fired: true })
    })
  },
})

function testPatches(stage: () => GuardedStage): void {
  test('a patch is judged file by file, moved ones too, and also when the shell is to apply it', async () => {
    const project = await stage().project({
      files: { 'a.txt': 'one\n' },
      settings: { middleware: { pre_completion_checklist: { enabled: false } } },
    })
    const patch = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch\n`
    const patches = [
      patch('*** Add File: b.txt\n+two\n*** Add File: keys/server.key\n+A'),
      patch('*** Update File: a.txt\n*** Move to: credentials.txt\n@@\n-one\n+two'),
    ]
    const inShell = `apply_patch <<'EOF'\n${patch('*** Add File: .env\n+A=1')}EOF`
    await project.play({
      turns: [
        ...patches.map((input) => ({ calls: [{ tool: { name: 'apply_patch', input } }] })),
        { calls: [{ run: inShell }] },
        // What Codex would type into it passes no hook.
        { calls: [{ run: 'bash' }] },
        { calls: [{ tool: { name: 'apply_patch', input: patch('*** Add File: c.txt\n+three') } }] },
        { text: 'Done.' },
      ],
    })
    expect(denialsIn(project.ledger())).toEqual([
      ...[protectFiles.name, protectFiles.name, protectFiles.name],
      refuseUnseenInput.name,
    ])
    const there = ['b.txt', 'keys/server.key', 'credentials.txt', '.env', 'a.txt', 'c.txt'].filter((path) =>
      isThere(project, path),
    )
    expect(there).toEqual(['a.txt', 'c.txt'])
  })
}

function testOwnRuns(stage: () => GuardedStage): void {
  test('a gate that runs the commands itself needs no word of the agent: red is refused, green is VERIFIED', async () => {
    const project = await stage().project({
      files: { 'AGENTS.md': '# Verification\n\n- `sh check.sh`\n', 'check.sh': 'grep -q 42 answer.txt\n' },
      settings: { middleware: { pre_completion_checklist: { run_at_stop: true } } },
    })
    await project.play({
      turns: [
        { calls: [{ write: { path: 'answer.txt', content: '41\n' } }] },
        { text: 'Done.' },
        { calls: [{ edit: { path: 'answer.txt', old: '41', new: '42' } }] },
        { text: 'Done.' },
      ],
    })
    const runs = notesIn(project.ledger()).flatMap((note) => (note.kind === 'evidence' ? [note] : []))
    expect(runs.map(({ by, evidence }) => [by, evidence.exitCode])).toEqual([
      ['guard', 1],
      ['guard', 0],
    ])
    expect(refusalsIn(project.ledger())).toBe(1)
    expect(endsIn(project.ledger())).toEqual(['VERIFIED'])
  })
}

function testTrust(stage: () => GuardedStage): void {
  test('hooks nobody trusts do not run, and guard status calls the guard unproven until it was seen at work', async () => {
    const project = await stage().project()
    const script = { turns: [{ calls: [{ run: 'echo A=1 > .env' }] }, { text: 'Done.' }] }
    const stateOf = (): unknown =>
      JSON.parse(stage().gantry(project, 'guard', 'status', '--agent', 'codex', '--json').stdout).agents[0]
    await project.play(script, { config: { trust_hooks: false } })
    expect(isThere(project, '.env')).toBe(true)
    expect(project.ledger().filter(({ kind }) => kind === 'event')).toEqual([])
    const { state, problems } = stateOf() as { state: string; problems: readonly string[] }
    expect(state).not.toBe('armed')
    expect(problems.join()).toContain('trust the hooks')
    await project.play(script)
    expect(denialsIn(project.ledger())).toEqual([protectFiles.name])
  })
}
