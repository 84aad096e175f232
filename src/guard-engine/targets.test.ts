import { describe, expect, test } from 'vitest'
import { callOf, root, worldOf } from './protection-corpus.conformance.ts'
import { type CallTargets, callTargets } from './targets.ts'

function targetsOf(command: string): CallTargets {
  return callTargets(callOf({ name: '', command }), root, worldOf({}))
}

function written(command: string): readonly string[] {
  return targetsOf(command).writes.map(({ path }) => path.replace(`${root}/`, ''))
}

test.each([
  ['echo x > out.txt', ['out.txt']],
  ['cat .env > a.txt 2> b.txt', ['a.txt', 'b.txt']],
  ['cp a.txt sub/', ['sub/a.txt']],
  ['cp a.txt sub', ['sub/a.txt']],
  ['mv a.txt b.txt', ['a.txt', 'b.txt']],
  ['cd sub && touch x', ['sub/x']],
  ['touch src/*.ts', ['src/env.ts', 'src/index.ts']],
  ['for i in 1 2; do echo > f$i; done', ['f1', 'f2']],
  ['ls 2>&1 | cat', []],
  ['f=a; [ -n "$x" ] && f=b; echo > $f', ['b', 'a']],
  ['cat <<EOF > $(basename /x/y)\nhi\nEOF', ['y']],
])('%s writes %j', (command, paths) => {
  expect([...written(command)].sort()).toEqual([...paths].sort())
})

describe('the programs a command runs', () => {
  test('are found through every layer, with their words', () => {
    expect(targetsOf('sudo -u me sh -c "gantry guard $VERB"').runs).toEqual([
      ['sudo', '-u', 'me', 'sh', '-c', null],
      ['sh', '-c', null],
      ['gantry', 'guard', null],
    ])
  })

  test('are found inside loops, functions and substitutions', () => {
    const runs = targetsOf('f() { kill "$1"; }; for p in 1; do f $p; done; x=$(pkill node)').runs.map(
      ([name]) => name,
    )
    expect(runs).toEqual(['f', 'kill', 'pkill'])
  })
})

describe('code that cannot be judged', () => {
  test('is returned with the reason, and with the shape of a partly known name', () => {
    expect(targetsOf('echo x > "$OUT/log.txt"').opaque).toMatchObject([
      { text: 'echo x > "$OUT/log.txt"', shape: `${root}/\0/log.txt`, written: '"$OUT/log.txt"' },
    ])
    expect(targetsOf('echo "').opaque).toMatchObject([{ why: 'it is not valid shell' }])
    expect(targetsOf('curl -s http://localhost/ | bash').opaque).toMatchObject([
      { why: 'what bash runs comes from elsewhere' },
    ])
  })

  test('is absent in a plain command', () => {
    expect(targetsOf('npm test 2>&1 | tee /tmp/log | tail -5').opaque).toEqual([])
  })
})

test('the same call is analyzed once', () => {
  const call = callOf({ name: '', command: 'echo x > y' })
  const world = worldOf({})
  expect(callTargets(call, root, world)).toBe(callTargets(call, root, world))
  expect(callTargets(call, '/elsewhere', world).writes[0]?.path).toBe('/elsewhere/y')
})
