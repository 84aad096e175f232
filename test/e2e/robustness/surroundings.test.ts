import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { gantry } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { canMount, onlyRun, runGantry, runIds, runMounted, runShell, shellAgent } from './lab.ts'

const escapes = new RegExp(String.fromCharCode(27))

describe('a store that cannot be', () => {
  test('because a file is in its place is reported', async () => {
    using project = smallProject()
    writeFileSync(project.store, 'a file')
    const { code, stderr } = await gantry(project, ['test'])
    expect(stderr).toMatch(
      /^error: cannot make the directory .*\/store\/runs: a parent of it is not a directory\nhint: {2}\S/,
    )
    expect(code).toBe(3)
    for (const argv of [
      ['runs', 'list'],
      ['runs', 'show', 'latest'],
      ['runs', 'clean'],
      ['runs', 'reindex'],
    ]) {
      const other = await gantry(project, argv)
      expect(other.stderr, argv.join(' ')).not.toMatch(/bug:|\n {4}at /)
      expect([2, 3], argv.join(' ')).toContain(other.code)
    }
  })

  test.each(['/proc/nowhere/store', '/dev/null/store', '/sys/gantry'])(
    'at %s is reported without waiting for it',
    async (place) => {
      using project = smallProject()
      const { code, stderr } = await gantry(project, ['test'], { env: { AGENT_ARTIFACT_DIR: place } })
      expect(stderr).toMatch(/^error: cannot make the directory .*\nhint: {2}\S/)
      expect(code).toBe(3)
    },
  )

  test('in a directory that is relative lies beside where it was started', async () => {
    using project = smallProject()
    expect((await gantry(project, ['test'], { env: { AGENT_ARTIFACT_DIR: 'here' } })).code).toBe(0)
    expect(existsSync(project.path('here/runs'))).toBe(true)
  })
})

describe('a report that cannot be written', () => {
  test.each<[string, RegExp]>([
    [
      'junit:/proc/nowhere/junit.xml',
      /cannot make the directory \/proc\/nowhere: its parent takes no new entries/,
    ],
    ['md:fixtures', /fixtures is a directory\nhint: {2}Name a file in it/],
    [
      'json:gantry.yaml/report.json',
      /cannot make the directory .*gantry\.yaml: something else is in its place/,
    ],
  ])('%s is reported before anything is done', async (reporter, message) => {
    using project = smallProject()
    const { code, stdout, stderr } = await gantry(project, ['test', '--reporter', reporter])
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('bug:')
    expect(code).toBe(3)
    expect(stdout).toBe('')
    expect(existsSync(project.store)).toBe(false)
  })

  test('a disk that fills up later is reported after the run, which is kept', async () => {
    using project = smallProject()
    const { code, stdout, stderr } = await gantry(project, ['test', '--reporter', 'html:/dev/full'])
    expect(stderr).toContain('The reporter html:/dev/full failed.\n')
    expect(stderr).toMatch(/The disk is full: \/dev\/full could not be written\.\nhint: {2}Free some space/)
    expect(code).toBe(3)
    expect(stdout).toContain('PASS')
    expect(onlyRun(project)).toBeTruthy()
  })
})

describe('a bare environment', () => {
  test('without HOME still runs', async () => {
    using project = smallProject()
    expect(await runShell(project, 'unset HOME; exec $GANTRY test')).toMatchObject({ code: 0, stderr: '' })
  })

  test('without any PATH says what is missing', async () => {
    using project = smallProject()
    const { code, stderr } = await runShell(project, 'PATH= ; export PATH; exec $GANTRY test')
    expect(stderr).toMatch(/case\.yaml:\d+:\d+: the tool 'sh' was not found\nhint: {2}It is not on PATH\./)
    expect(code).toBe(2)
  })

  test('without any variable at all still answers', async () => {
    using project = smallProject()
    const store = `AGENT_ARTIFACT_DIR=${project.store}`
    expect((await runShell(project, `exec env -i ${store} $GANTRY runs list`)).code).toBe(0)
    const { code, stderr } = await runShell(project, `exec env -i ${store} $GANTRY test`)
    expect(stderr).not.toMatch(/bug:|\n {4}at /)
    expect([0, 2]).toContain(code)
  })

  test('in a working directory that is gone says so', async () => {
    using project = smallProject()
    mkdirSync(project.path('gone'))
    for (const command of ['test', 'runs list', 'scenario list']) {
      const { code, stderr } = await runShell(
        project,
        `mkdir -p gone; cd gone; rmdir ../gone; exec $GANTRY ${command}`,
      )
      expect(stderr).toContain(
        'error: the working directory no longer exists\nhint:  Change to a directory that exists and try again.\n',
      )
      expect(code).toBe(2)
    }
    expect((await runShell(project, 'mkdir -p gone; cd gone; rmdir ../gone; exec $GANTRY --help')).code).toBe(
      0,
    )
  })
})

describe('a directory for temporary files', () => {
  test.each<[string, string, string]>([
    ['that is not there', 'nowhere', 'the directory for temporary files, PLACE, is not there'],
    [
      'below a file',
      'gantry.yaml/tmp',
      'cannot make a directory in PLACE: a parent of it is not a directory',
    ],
  ])('%s is reported', async (_what, name, message) => {
    using project = smallProject()
    const place = project.path(name)
    // Node itself would make it, for what it compiled.
    const env = { TMPDIR: place, NODE_DISABLE_COMPILE_CACHE: '1' }
    const { code, stderr } = await runGantry(project, ['test'], { env })
    expect(stderr.split('\n')[0]).toBe(`error: ${message.replace('PLACE', place)}`)
    expect(stderr).toMatch(/\nhint: {2}\S/)
    expect(code).toBe(3)
  })
})

describe('streams', () => {
  test('stdout that is closed early is harmless: the run continues and returns its exit code', async () => {
    using project = smallProject({
      turns: [{ wait: '300ms' }, { write: { path: 'done.txt', content: 'x' } }],
    })
    const { stdout, stderr } = await runShell(
      project,
      '{ $GANTRY test --repeat 3 -j 1; echo $? > code; } | head -1',
    )
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stderr).toBe('')
    expect(project.read('code')).toBe('0\n')
    expect(runIds(project)).toHaveLength(1)
  })

  test.each([
    ['stdin', '$GANTRY test <&-', 0],
    ['stdout', '$GANTRY test >&-', 0],
    ['stderr', '$GANTRY test 2>&-', 0],
    ['all three', '$GANTRY test <&- >&- 2>&-', 0],
    ['stderr of an error', '$GANTRY test nowhere 2>&-', 2],
  ])('%s closed from the start does not matter', async (_which, command, expected) => {
    using project = smallProject()
    const { code, stderr } = await runShell(project, command)
    expect(stderr).not.toMatch(/bug:|\n {4}at /)
    expect(code).toBe(expected)
  })

  test('a full disk behind stdout is an error, not a crash', async () => {
    using project = smallProject()
    const { code, stderr } = await runShell(project, '$GANTRY test --json > /dev/full')
    expect(stderr).not.toMatch(/bug:|\n {4}at /)
    expect(code).toBe(3)
    expect(onlyRun(project)).toBeTruthy()
  })

  test.each<[string, string]>([
    ['NO_COLOR', 'NO_COLOR=1 TERM=xterm'],
    ['TERM=dumb', 'TERM=dumb'],
  ])('%s on a terminal is honoured', async (name, variables) => {
    using project = smallProject()
    const { code, stdout } = await runShell(
      project,
      `script -qec "env ${variables} $GANTRY test --no-cache" /dev/null </dev/null`,
    )
    expect(code).toBe(0)
    expect(stdout).toContain('PASS')
    if (name === 'NO_COLOR') expect(stdout).not.toMatch(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`))
    else expect(stdout).not.toMatch(escapes)
  })

  test.each([1, 20, 500])('a terminal of %i columns is bearable', async (columns) => {
    using project = smallProject({ scenario: { name: 'a rather long name of a scenario with many words' } })
    const { code, stdout } = await runShell(
      project,
      `script -qec "stty cols ${columns} rows 5; env TERM=xterm $GANTRY test --no-cache" /dev/null </dev/null`,
    )
    expect(code).toBe(0)
    expect(stripVTControlCharacters(stdout).replaceAll(/\s+/g, '')).toContain('PASS')
  })
})

describe.skipIf(!canMount())('a disk', () => {
  const agent = shellAgent()
  const filler = 'head -c 8000000 /dev/zero > big 2>/dev/null; echo > done.txt'

  test('that is full from the start is reported, and nothing is half written', async () => {
    using project = smallProject()
    const { code, stderr } = await runMounted(
      project,
      `mkdir "$AGENT_ARTIFACT_DIR"; mount -t tmpfs -o size=64k tmpfs "$AGENT_ARTIFACT_DIR" || exit 77
       dd if=/dev/zero of="$AGENT_ARTIFACT_DIR/fill" bs=4k 2>/dev/null; exec $GANTRY test`,
    )
    expect(stderr).toMatch(
      /^error: cannot .*: no space left on the disk\nhint: {2}Free some space, or point AGENT_ARTIFACT_DIR at another disk\./,
    )
    expect(code).toBe(3)
  })

  test('that an agent fills ends the run with 3; what is finished stays, and the run goes on later', async () => {
    using project = smallProject({ config: agent })
    project.write({
      'gantry.yaml': shellAgent({ env: { PLACE: project.dir } }),
      'agent.sh': `echo "$GANTRY_ATTEMPT" >> "$PLACE/starts"; echo > done.txt
[ "$GANTRY_ATTEMPT" = 1 ] || [ -e "$PLACE/free" ] || ${filler}`,
    })
    const { code, stdout, stderr } = await runMounted(
      project,
      `mkdir "$AGENT_ARTIFACT_DIR"; mount -t tmpfs -o size=2m tmpfs "$AGENT_ARTIFACT_DIR" || exit 77
       $GANTRY test --repeat 3 -j 1 --no-cache > first.out 2> first.err; echo $? > first.code
       ls "$AGENT_ARTIFACT_DIR/runs" > run; touch free
       mount -o remount,size=64m "$AGENT_ARTIFACT_DIR"
       exec $GANTRY test --resume "$(cat run)" --json`,
    )
    const first = project.read('first.err')
    expect(first).toMatch(/^error: cannot .*: no space left on the disk\nhint: {2}Free some space/)
    expect(first).toContain(`go on with: gantry test --resume ${project.read('run').trim()}`)
    expect(project.read('first.code')).toBe('3\n')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ summary: { counts: { pass: 3 }, notRun: 0 } })
    expect(
      project
        .read('starts')
        .split('\n')
        .filter((line) => line === '1'),
    ).toHaveLength(1)
  })

  test('that an agent fills loses nothing of what it cost', async () => {
    using project = smallProject()
    project.write({
      'gantry.yaml': shellAgent({ output: 'events', env: { PLACE: project.dir } }),
      'agent.sh': `echo > done.txt; [ -e "$PLACE/free" ] || ${filler}
echo '{"event":"usage","model":"made-up","cost_usd":0.25}'`,
    })
    const { code, stdout } = await runMounted(
      project,
      `mkdir "$AGENT_ARTIFACT_DIR"; mount -t tmpfs -o size=2m tmpfs "$AGENT_ARTIFACT_DIR" || exit 77
       $GANTRY test --repeat 2 -j 1 --no-cache > first.out 2>&1; echo $? > first.code
       touch free; mount -o remount,size=64m "$AGENT_ARTIFACT_DIR"
       exec $GANTRY test --resume "$(ls "$AGENT_ARTIFACT_DIR/runs")" --json`,
    )
    expect(project.read('first.code')).toBe('3\n')
    expect({ code, cost: JSON.parse(stdout).summary.costUsd }).toEqual({ code: 0, cost: 0.75 })
  })

  test('that was full while the agent worked makes the trial infra, and is not paid for again', async () => {
    using project = smallProject()
    project.write({
      'gantry.yaml': shellAgent({ env: { PLACE: project.dir } }),
      'agent.sh': `echo >> "$PLACE/starts"; head -c 8000000 /dev/zero > big || rm big; exit 1`,
    })
    const { code, stdout } = await runMounted(
      project,
      `mkdir "$AGENT_ARTIFACT_DIR"; mount -t tmpfs -o size=2m tmpfs "$AGENT_ARTIFACT_DIR" || exit 77
       exec $GANTRY test --json`,
    )
    const { trials } = JSON.parse(stdout)
    expect(trials).toMatchObject([{ verdict: 'infra', reason: 'the disk was full while the agent worked' }])
    expect({ code, starts: project.read('starts') }).toEqual({ code: 3, starts: '\n' })
  })

  test.each([
    ['from the start', 'mount -o remount,ro "$AGENT_ARTIFACT_DIR"'],
    [
      'below its root',
      'mkdir "$AGENT_ARTIFACT_DIR/runs"; mount -t tmpfs -o ro tmpfs "$AGENT_ARTIFACT_DIR/runs"',
    ],
  ])('that is read-only %s is reported', async (_how, make) => {
    using project = smallProject()
    const { code, stderr } = await runMounted(
      project,
      `mkdir "$AGENT_ARTIFACT_DIR"; mount -t tmpfs tmpfs "$AGENT_ARTIFACT_DIR" || exit 77
       ${make}; exec $GANTRY test`,
    )
    expect(stderr).toMatch(
      /^error: cannot make the directory .*: the file system is read-only\nhint: {2}Check owner and permissions/,
    )
    expect(code).toBe(3)
  })

  test('that is read-only can still be read', async () => {
    using project = smallProject()
    const { code, stdout, stderr } = await runMounted(
      project,
      `mkdir "$AGENT_ARTIFACT_DIR"; mount -t tmpfs tmpfs "$AGENT_ARTIFACT_DIR" || exit 77
       $GANTRY test > /dev/null; mount -o remount,ro "$AGENT_ARTIFACT_DIR"
       $GANTRY runs list && $GANTRY runs show latest && $GANTRY test --plan
       $GANTRY runs pin latest`,
    )
    expect(stdout).toContain('case with worker')
    expect(stdout).toContain('would be taken from it')
    expect(stderr).toMatch(/^error: cannot .*: the file system is read-only\nhint: /)
    expect(code).toBe(3)
  })

  test('that becomes read-only under a run ends it with 3 and a way on', async () => {
    using project = smallProject({ config: agent })
    project.write({
      'agent.sh': 'echo > done.txt; [ "$GANTRY_ATTEMPT" = 1 ] || mount -t tmpfs -o ro tmpfs ../..',
    })
    const { code, stderr } = await runMounted(
      project,
      `mkdir "$AGENT_ARTIFACT_DIR"; mount -t tmpfs tmpfs "$AGENT_ARTIFACT_DIR" || exit 77
       exec $GANTRY test --repeat 2 -j 1`,
    )
    expect(stderr).toMatch(/^error: cannot .*\nhint: /)
    expect(stderr).toContain('go on with: gantry test --resume run_')
    expect(code).toBe(3)
  })

  test('for temporary files that is full is reported', async () => {
    using project = smallProject()
    const { code, stderr } = await runMounted(
      project,
      `mkdir tmp; mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs tmp || exit 77; TMPDIR=$PWD/tmp; export TMPDIR; exec $GANTRY test`,
    )
    expect(stderr).toMatch(/^error: cannot .*: no space left on the disk\nhint: /)
    expect(code).toBe(3)
    expect(existsSync(join(project.store, 'runs'))).toBe(false)
  })
})
