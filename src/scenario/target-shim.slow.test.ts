import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findPty, ptyArgv } from '../io/pty.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { openTargetShim, readCall } from './target-shim.ts'
import { trialPlace } from './trial-work.ts'

const tool = `#!/bin/sh
case $1 in
  add) echo "added $2"; echo "note: $2" >&2 ;;
  fail) echo no >&2; exit 3 ;;
  cat) cat ;;
  yes) exec yes ;;
  slow) echo one; sleep 0.3; echo two; sleep 0.3; echo three; echo end >&2 ;;
  mixed) for n in 1 2 3 4; do echo out$n; echo err$n >&2; done ;;
  bytes) head -c 300000 /dev/zero | tr '\\0' x ;;
  segv) kill -SEGV $$ ;;
  pid) echo $$ ;;
  terms) trap 'echo got term; exit 7' TERM; echo ready; while :; do sleep 0.05; done ;;
  daemon) (sleep 0.4; echo late) & echo early ;;
  tty) test -t 0 && echo in; test -t 1 && echo out; test -t 2 && echo err; stty size ;;
  self) tool add inner; echo "$PATH" | tr : '\\n' | head -2 ;;
  name) echo "$0" ;;
esac
`

function makeTrial(name = 'tool', into = 'a place with spaces') {
  const scratch = temporaryDirectory('gantry-shim-')
  const place = trialPlace(join(scratch.path, into))
  const program = join(scratch.path, "the tool's place", name)
  mkdirSync(dirname(program), { recursive: true })
  for (const path of [place.fixture, place.tmp]) mkdirSync(path, { recursive: true })
  writeFileSync(program, tool, { mode: 0o755 })
  const env = { PATH: `${dirname(program)}:${process.env.PATH ?? ''}`, HOME: place.fixture }
  const setup = openTargetShim(
    { target: { binary: `./bin/${name}`, env: {} }, targetProgram: program },
    place,
    env,
  )
  if (setup.kind !== 'ready') throw new Error(setup.kind)
  const { shim } = setup
  const run = (argv: readonly [string, ...string[]], variables: Record<string, string>) => {
    const { status, signal, stdout, stderr } = spawnSync(argv[0], argv.slice(1), {
      cwd: place.fixture,
      env: variables,
      encoding: 'utf8',
    })
    return { status, signal, stdout, stderr }
  }
  return {
    place,
    program,
    shim,
    direct: (script: string) => run(['bash', '-c', script], env),
    shimmed: (script: string) => run(['bash', '-c', script], { ...env, ...shim.env }),
    inTerminal: (script: string, variables = {}) =>
      run(ptyArgv(['bash', '-c', script]), { ...env, TERM: 'dumb', ...variables }),
    [Symbol.dispose]: () => scratch[Symbol.dispose](),
  }
}

describe('an agent sees no difference', () => {
  test.each([
    [
      'arguments',
      `tool add 'two words' && tool add "it's" && tool add '' && tool add $'a\\nb' && tool add 'ü *'`,
    ],
    ['exit codes', 'tool fail; echo $?; tool add x; echo $?'],
    ['standard input', 'echo hello | tool cat; tool cat <<< here; printf "a\\nb\\n" > f; tool cat < f'],
    ['a loop that shares its input', 'printf "1\\n2\\n" | while read n; do tool add $n; done'],
    ['the order of both streams in one pipe', 'tool mixed 2>&1 | cat'],
    ['files', 'tool add x > f 2> g; cat f g; tool add y >> f 2>&1; cat f; wc -c < f'],
    ['much output', 'tool bytes | wc -c; tool bytes > f; wc -c < f'],
    ['a reader that stops early', 'tool yes | head -2; echo $PIPESTATUS'],
    ['a reader that stops before the tool writes again', 'tool slow | head -1; echo $PIPESTATUS'],
    [
      'a signal to the process',
      'rm -f f; tool terms > f & p=$!; until [ -s f ]; do sleep 0.02; done; kill $p; wait $p; echo $?; cat f',
    ],
    [
      'SIGKILL',
      'rm -f f; tool terms > f & p=$!; until [ -s f ]; do sleep 0.02; done; kill -9 $p; wait $p; echo $?',
    ],
    ['death by a signal', 'tool segv; echo $?'],
    ['a process in the background', 'tool daemon | cat; tool daemon > f; cat f; sleep 0.6; cat f'],
    [
      'a closed stream',
      'tool add x >&-; echo $?; tool add y 2>&-; echo $?; tool cat <&-; echo $?; tool add z <&- >&- 2>&-; echo $?',
    ],
    ['calls of the tool by itself', 'tool self'],
    ['its own name', 'tool name'],
    ['substitution', 'x=$(tool add x); echo "[$x]"; echo "$(tool fail 2>&1)"'],
    ['many at once', 'for n in 1 2 3 4 5 6 7 8; do tool add $n & done | sort; wait'],
  ])('%s', (_what, script) => {
    using trial = makeTrial()
    const expected = trial.direct(script)
    const { stderr, ...seen } = trial.shimmed(script)
    expect(seen).toEqual({ status: expected.status, signal: expected.signal, stdout: expected.stdout })
    const plain = (text: string) =>
      text
        .replaceAll(/line \d+: +\d+ /g, '')
        .split('\n')
        .sort()
    expect(plain(stderr)).toEqual(plain(expected.stderr))
    expect(trial.shim.finish().length).toBeGreaterThan(0)
  })

  test('a terminal', async () => {
    using trial = makeTrial()
    if (!(await findPty({ PATH: process.env.PATH ?? '' }))) return
    const script = 'tool tty; tool tty | cat; tool tty < /dev/null; tool fail; echo $?'
    expect(trial.inTerminal(script, trial.shim.env)).toEqual(trial.inTerminal(script))
    expect(trial.shim.finish()).toHaveLength(4)
  })
})

describe('a record', () => {
  test('has arguments, working directory, exit code, times and the end of the output', () => {
    using trial = makeTrial()
    trial.shimmed(`mkdir -p sub && cd sub && tool add "two words"; tool fail | cat; tool fail; true`)
    const calls = trial.shim.finish()
    expect(calls).toMatchObject([
      {
        event: 'target_call',
        args: ['add', 'two words'],
        cwd: join(trial.place.fixture, 'sub'),
        exit_code: 0,
        stdout: 'added two words\n',
        stderr: 'note: two words\n',
      },
      { args: ['fail'], exit_code: 3, stderr: 'no\n' },
      { args: ['fail'], exit_code: 3, stderr: 'no\n' },
    ])
    for (const { started, duration_secs = -1 } of calls) {
      expect(started).toBeGreaterThan(1_700_000_000)
      expect(duration_secs).toBeGreaterThanOrEqual(0)
    }
  })

  test('keeps 4 KiB of each stream, of a file only what this call wrote', () => {
    using trial = makeTrial()
    trial.shimmed('tool bytes | wc -c; echo before > f; tool add x >> f; tool add y > /dev/null')
    const [bytes, file, nowhere] = trial.shim.finish()
    expect(bytes?.stdout).toHaveLength(4096)
    expect(file?.stdout).toBe('added x\n')
    expect(nowhere).not.toHaveProperty('stdout')
  })

  test('of a call whose reader went away says so, and one that never ended has no exit code', () => {
    using trial = makeTrial()
    trial.shimmed('tool yes | head -1; tool terms & sleep 0.3; kill -9 $!; wait')
    expect(trial.shim.finish()).toMatchObject([
      { args: ['yes'], exit_code: 141, cut_off: true },
      { args: ['terms'], exit_code: null },
    ])
  })

  test('is made once for a tool that calls itself, and for every call of many at the same time', () => {
    using trial = makeTrial()
    trial.shimmed('tool self; for n in $(seq 40); do tool add $n & done; wait')
    expect(trial.shim.finish()).toHaveLength(41)
  })

  test('goes to TMPDIR where the agent cannot write beside its workspace', () => {
    using trial = makeTrial()
    trial.shimmed(`rm -r '${trial.place.calls}'; : > '${trial.place.calls}'; tool add x`)
    expect(trial.shim.finish()).toMatchObject([{ args: ['add', 'x'] }])
  })

  test('that cannot be written changes nothing', () => {
    using trial = makeTrial()
    const { calls, tmp } = trial.place
    const blocked = `rm -r '${calls}'; : > '${calls}'; : > '${tmp}/.calls'`
    expect(trial.shimmed(`${blocked}; tool add x; tool fail; echo $?`)).toMatchObject({
      stdout: 'added x\n3\n',
    })
    expect(trial.shim.finish()).toEqual([])
  })

  test('forged by the agent is read as text or not at all', () => {
    using trial = makeTrial()
    const { calls } = trial.place
    trial.shimmed(
      `cd '${calls}'; ln -s /dev/zero a; mkfifo b; mkdir c; echo garbage > d; ln -s / e; head -c 900000 /dev/zero > f; tool add x`,
    )
    expect(trial.shim.finish()).toHaveLength(1)
    expect(readCall('start 1\narg zz\ncwd\nexit x\n')).toMatchObject([{ args: [''], cwd: '' }])
    expect(readCall('start now\n')).toEqual([])
  })
})

test('nothing is left behind, and a recording contains the paths of the tool itself', () => {
  using trial = makeTrial()
  const { stdout } = trial.shimmed('command -v tool; echo "$PATH"')
  expect(trial.shim.hide(stdout)).toBe(trial.direct('command -v tool; echo "$PATH"').stdout)
  trial.shim.finish()
  for (const path of [trial.place.bin, trial.place.calls]) expect(existsSync(path)).toBe(false)
})

test.each([
  ['a tool in the workspace', './bin/tool'],
  ['a program that agents start themselves', 'git'],
  ['a missing tool', 'no-such-tool'],
])('there is no shim for %s', (_what, binary) => {
  using scratch = temporaryDirectory('gantry-shim-')
  const place = trialPlace(scratch.path)
  const env = { PATH: process.env.PATH ?? '' }
  expect(openTargetShim({ target: { binary, env: {} }, targetProgram: null }, place, env)).toEqual({
    kind: 'unfit',
  })
  expect(existsSync(place.bin)).toBe(false)
})

test('without perl there is no shim, and a reason', () => {
  using scratch = temporaryDirectory('gantry-shim-')
  writeFileSync(join(scratch.path, 'tool'), tool, { mode: 0o755 })
  const setup = openTargetShim(
    { target: { binary: 'tool', env: {} }, targetProgram: null },
    trialPlace(scratch.path),
    { PATH: scratch.path },
  )
  expect(setup).toEqual({ kind: 'impossible', reason: 'perl is not installed' })
})
