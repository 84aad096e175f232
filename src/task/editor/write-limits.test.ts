import { linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtinToolCall } from '../../agents/builtin/hooks.ts'
import { type EditorPlaces, editorWriteLimits } from './write-limits.ts'

let fixture: FsFixture
let top: string
let places: EditorPlaces

beforeAll(async () => {
  fixture = await createFixture({
    'repo/src/a.ts': '',
    'repo/packages/one/b.ts': '',
    'repo/agent.yaml': 'verification: {}\n',
    'repo/agent/x.ts': '',
    'repo/.git/config': '',
    'repo/sub/.git/config': '',
    'artefacts/runs/x': '',
    'scratch/keep': '',
    'other/x': '',
  })
  top = realpathSync(fixture.path).replace(/\/$/, '')
  const root = join(top, 'repo')
  symlinkSync(join(top, 'other'), join(root, 'out'))
  symlinkSync('agent.yaml', join(root, 'alias.yaml'))
  mkdirSync(join(root, 'copy'))
  writeFileSync(join(root, 'plain'), '')
  linkSync(join(root, 'plain'), join(root, 'hard'))
  places = {
    root,
    artefacts: join(top, 'artefacts'),
    scratch: join(top, 'scratch'),
    home: join(top, 'home'),
    env: { HOME: join(top, 'home'), TMPDIR: join(top, 'scratch') },
    package: null,
  }
})
afterAll(() => fixture.rm())

const write = (path: string) => ['write', { path, content: 'x' }] as const
const run = (command: string) => ['run', { command }] as const

async function decide([tool, input]: readonly [string, unknown], change: Partial<EditorPlaces> = {}) {
  const { hooks } = editorWriteLimits({ ...places, ...change })
  return hooks(builtinToolCall).beforeTool?.({ tool, input })
}

test.each([
  write('src/a.ts'),
  write('src/new/deep/file.ts'),
  write('agent/x.ts'),
  run('cp -r src agent'),
  write('src/agent.yaml.md'),
  write('agent.yaml.md'),
  write('hard'),
  run('npm test 2>&1 | tee out.log'),
  run('make > /dev/null 2>&1'),
  run('node build.js'),
  run('rm -rf src'),
  run('mv src/a.ts src/b.ts'),
  run('echo x > $TMPDIR/log'),
  run('git status && git diff HEAD~1'),
  run('cat agent.yaml'),
  run('find . -name "*.pyc" -delete'),
  run('sed -i s/a/b/ src/a.ts'),
])('%s %j is allowed', async (tool, input) => {
  expect(await decide([tool, input])).toEqual({ kind: 'allow' })
})

test.each([
  write('../other/x'),
  write('/etc/passwd'),
  write('~/x'),
  write('out/x'),
  write('agent.yaml'),
  write('./src/../agent.yaml'),
  write('AGENT.YAML'),
  write('alias.yaml'),
  write('.git/hooks/pre-commit'),
  write('sub/.git/config'),
  run('echo x > ../other/x'),
  run('cd .. && touch x'),
  run('cd out && rm x'),
  run('ln -s /etc y; echo a > y/passwd'),
  run('sed -i s/a/b/ agent.yaml'),
  run('echo true > agent.yaml'),
  run('mv .git saved'),
  run('rm -rf .'),
  run('rm -rf "$PWD"'),
  run('find . -name agent.yaml -delete'),
  run("python3 -c \"open('/home/x','w').write('1')\""),
  run("python3 -c \"open('agent.yaml','w')\""),
  run("node -e \"require('fs').writeFileSync('.git/config','')\""),
  run('git commit -am done'),
  run('git -C . push'),
  run('git stash'),
  run('git checkout -- .'),
  run('git config core.hooksPath x'),
  run('echo x > /tmp/elsewhere-of-somebody'),
  run('bash -c "rm agent.yaml"'),
  run('find .. -name x -delete'),
  run('tar xf a.tgz -C ..'),
  run('rm -rf out/'),
  run('rm out/../other/x'),
  run('echo cm0gYWdlbnQueWFtbA== | tee /var/x'),
])('%s %j is denied', async (tool, input) => {
  expect(await decide([tool, input])).toMatchObject({
    kind: 'deny',
    reason: expect.stringMatching(/^Gantry guard:/),
  })
})

test('the artefact directory is read-only, also inside the repository', async () => {
  expect(await decide(run(`echo x > ${places.artefacts}/runs/x`))).toMatchObject({
    kind: 'deny',
    reason: expect.stringContaining('artefact directory'),
  })
  const inside = { artefacts: join(places.root, '.store') }
  expect(await decide(write('.store/runs/x'), inside)).toMatchObject({ kind: 'deny' })
  expect(await decide(write('src/x'), inside)).toEqual({ kind: 'allow' })
})

test('the copy of a dry run inside the artefact directory is writable', async () => {
  const copied = { artefacts: top }
  expect(await decide(write('src/x'), copied)).toEqual({ kind: 'allow' })
  expect(await decide(run(`echo x > ${top}/other/x`), copied)).toMatchObject({ kind: 'deny' })
})

test('a task confined to a package writes nowhere else', async () => {
  const confined = { package: 'packages/one' }
  expect(await decide(write('packages/one/new.ts'), confined)).toEqual({ kind: 'allow' })
  for (const call of [write('packages/two/x.ts'), write('packages/one-more/x.ts'), run('touch src/a.ts')])
    expect(await decide(call, confined)).toMatchObject({
      kind: 'deny',
      reason: expect.stringContaining('packages/one'),
    })
})

test('a path is judged by its real path', () => {
  const { whyRefused } = editorWriteLimits(places)
  expect(whyRefused(join(places.root, 'src/new.ts'))).toBeNull()
  expect(whyRefused(join(places.root, 'out/new.ts'))).toContain('outside')
  expect(whyRefused(join(places.root, 'alias.yaml'))).toContain('agent.yaml')
})
