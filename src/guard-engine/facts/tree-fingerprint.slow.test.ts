import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { hiddenList, readManifest } from './tree-changes.ts'
import { treeFingerprint } from './tree-fingerprint.ts'

const plan = (boxes: string, title = 'Add') =>
  `# Plan\n\n- [${boxes[0]}] ${title}\n- [${boxes[1]}] Subtract\n`

test.each(['tracked', 'untracked', 'without git'])(
  'a ticked box of the plan does not change the fingerprint, another task does: %s',
  async (kind) => {
    await using fixture = await createFixture({ 'a.ts': 'x', 'IMPLEMENTATION_PLAN.md': plan('  ') })
    const git = (...args: readonly string[]): void =>
      void execFileSync('git', args, { cwd: fixture.path, stdio: 'ignore' })
    if (kind !== 'without git') git('init', '-q')
    if (kind === 'tracked') git('add', '-A')
    const withPlan = async (text: string): Promise<string> => {
      writeFileSync(join(fixture.path, 'IMPLEMENTATION_PLAN.md'), text)
      return treeFingerprint(fixture.path, '.harness')
    }
    const open = await withPlan(plan('  '))
    expect(await withPlan(plan('x '))).toBe(open)
    expect(await withPlan(plan('xX'))).toBe(open)
    expect(await withPlan(plan('  ', 'Add quickly'))).not.toBe(open)
    writeFileSync(join(fixture.path, 'a.ts'), 'y')
    expect(await withPlan(plan('  '))).not.toBe(open)
  },
)

test('views that were committed do not belong to the tree', async () => {
  await using fixture = await createFixture({
    'a.ts': 'x',
    '.harness/state.json': '{}',
    '.harness/own.txt': '',
  })
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', args, { cwd: fixture.path, stdio: 'ignore' })
  git('init', '-q')
  git('add', '-A')
  const before = await treeFingerprint(fixture.path, '.harness')
  writeFileSync(join(fixture.path, '.harness/state.json'), '{ "session_id": "s1" }')
  expect(await treeFingerprint(fixture.path, '.harness')).toBe(before)
  writeFileSync(join(fixture.path, 'a.ts'), 'y')
  expect(await treeFingerprint(fixture.path, '.harness')).not.toBe(before)
})

test('sources of the tree at the start stay part of it when git ignores them later', async () => {
  await using fixture = await createFixture({ 'src/a.js': '1\n', 'dist/a.js': '1\n', 'b.js': '1\n' })
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: fixture.path, stdio: 'ignore' })
  const identity = ['-c', 'user.name=n', '-c', 'user.email=a@b']
  git('init', '-q')
  git('add', '-A')
  git(...identity, 'commit', '-qm', 'x')
  const trees = fixture.getPath('.harness/trees')
  const print = (how = {}) =>
    treeFingerprint(fixture.path, '.harness', { keepIn: trees, hiddenIn: hiddenList(trees), ...how })
  const base = await print()
  const earlier = { tree: base, records: () => readManifest(trees, base) }
  await fixture.writeFile('.gitignore', 'src/\ndist/\n')
  git('rm', '-rq', '--cached', 'src', 'dist')
  const ignored = await print({ earlier })
  await fixture.writeFile('dist/a.js', '2\n')
  expect(await print({ earlier }), 'what is generated').toBe(ignored)
  await fixture.writeFile('src/a.js', '2\n')
  const changed = await print({ earlier })
  expect(changed).not.toBe(ignored)
  expect(await print(), 'for who does not know the session').toBe(changed)
})
