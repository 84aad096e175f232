import { expect, test } from 'vitest'
import type { GuardedProject } from '../../src/guard/prove/contract.ts'
import { relayCompaction } from '../../src/guard/prove/gates/context.ts'
import { kernelProtection } from '../../src/guard/prove/gates/kernel.ts'
import { denialsIn, endsIn, notesIn, refusalsIn } from '../../src/guard/prove/observations.ts'
import { protectFiles } from '../../src/rules/protect-files.ts'
import { refuseUnseenInput } from '../../src/rules/refuse-unseen-input.ts'
import { describeGuard } from './support/guard.conformance.ts'
import { type GuardedStage, isThere } from './support/guarded-stage.ts'

describeGuard('codex', {
  // It does not report to its hooks how a command ended.
  verify: () => 'gantry guard verify',
  evidenceBy: 'guard',
  also: (stage) => {
    testPatches(stage)
    testOwnRuns(stage)
    testTrust(stage)
    testSandbox(stage)

    test('after a compaction the model gets the state of the work', async () => {
      expect(await relayCompaction.play(stage().proof)).toMatchObject({ fired: true })
    })
  },
})

function testPatches(stage: () => GuardedStage): void {
  test('a patch is judged file by file, also for moved files and when the shell applies it', async () => {
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
  test('a gate that runs the commands itself refuses a failing run and accepts a passing one as VERIFIED', async () => {
    const project = await stage().project({
      files: { 'AGENTS.md': '# Verification\n\n- `sh check.sh`\n', 'check.sh': 'grep -q 42 answer.txt\n' },
      settings: { completion: { verify: 'self' } },
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

function testSandbox(stage: () => GuardedStage): void {
  const files = {
    '.env': 'A=1\n',
    'name.txt': '.env\n',
    'change.sh': 'read -r name < name.txt\necho changed > "$name"\necho written > ordinary.txt\n',
  }
  const script = { turns: [{ calls: [{ run: 'sh change.sh' }] }, { text: 'Done.' }] }
  const protectionIn = (project: GuardedProject) =>
    JSON.parse(stage().gantry(project, 'guard', 'status', '--agent', 'codex', '--json').stdout).agents[0]
      .protection

  test('with --enforce kernel its own sandbox keeps protected files from being changed, and only them', async () => {
    expect(await kernelProtection.limit?.(stage().proof)).toBeNull()
    expect(await kernelProtection.play(stage().proof)).toMatchObject({ fired: true })
    const project = await stage().project({ files, enforceKernel: true })
    expect(protectionIn(project)).toMatchObject({ layer: 'kernel' })
    // What its sandbox protects by itself stays protected.
    await project.play(
      { turns: [{ calls: [{ run: 'touch .git/x; touch .codex/x; touch y' }] }, { text: 'Done.' }] },
      { config: { sandbox: 'default' } },
    )
    expect(['.git/x', '.codex/x', 'y'].filter((path) => isThere(project, path))).toEqual(['y'])
    await stage().uninstall(project, ['codex'])
    expect(isThere(project, '.codex')).toBe(false)
  })

  test('a sandbox_mode of the user is not changed: changes are noticed, and status says why', async () => {
    const project = await stage().project({
      files: { ...files, '.codex/config.toml': 'sandbox_mode = "workspace-write"\n' },
      enforceKernel: true,
    })
    expect(project.read('.codex/config.toml')).toBe('sandbox_mode = "workspace-write"\n')
    expect(protectionIn(project)).toMatchObject({
      layer: 'notice',
      why: expect.stringContaining('sandbox_mode in'),
    })
    await project.play(script, { config: { sandbox: 'default' } })
    expect(project.read('.env')).toBe('changed\n')
    const [changed] = notesIn(project.ledger()).filter(({ kind }) => kind === 'changes_refused')
    expect(changed).toBeDefined()
  })
}

function testTrust(stage: () => GuardedStage): void {
  test('untrusted hooks do not run, and guard status calls the guard unproven until it has run', async () => {
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
