import { expect, test } from 'vitest'
import { type AskedAround, asksAround, setAround } from './surroundings.ts'

const variables: readonly (readonly [path: string, line: string])[] = [
  ['a.ts', 'if (process.env.CI) run()'],
  ['a.ts', "const ci = process.env['CI']"],
  ['a.ts', 'const { ci = env.CI } = {}'],
  ['a.ts', "Deno.env.get('CI')"],
  ['a.ts', "'CI' in process.env"],
  ['a.py', 'os.environ["CI"]'],
  ['a.py', "os.environ.get('CI')"],
  ['a.py', "os.getenv('CI')"],
  ['a.go', 'os.Getenv("CI")'],
  ['a.go', '_, ok := os.LookupEnv("CI")'],
  ['a.rs', 'std::env::var("CI").is_ok()'],
  ['a.rs', 'option_env!("CI")'],
  ['a.c', 'getenv("CI")'],
  ['a.java', 'System.getenv("CI")'],
  ['a.rb', "ENV['CI']"],
  ['a.rb', "ENV.fetch('CI', nil)"],
  ['a.php', "$_ENV['CI']"],
  ['a.cs', 'Environment.GetEnvironmentVariable("CI")'],
  ['a.exs', 'System.get_env("CI")'],
  ['a.sh', '[ -n "$CI" ]'],
]

test.each(variables)('%s: %s asks for a variable', (path, line) => {
  expect(asksAround(path, [line])).toMatchObject({ names: ['CI'], isOpen: false })
})

test.each([
  ['a.ts', 'Object.keys(process.env)'],
  ['a.ts', 'process.env[name]'],
  ['a.ts', 'process.umask() === 0o27'],
  ['a.ts', 'new Date(0).getHours()'],
  ['a.py', 'sys.flags.hash_randomization'],
  ['a.py', 'subprocess.run(["ulimit"])'],
  ['a.rs', 'Command::new("nice")'],
  ['a.sh', 'ulimit -n'],
])('%s: %s asks for something that a call can set', (path, line) => {
  expect(asksAround(path, [line])?.isOpen).toBe(true)
})

test.each([
  ['a.ts', 'const environment = settings.production'],
  ['a.ts', 'export function add(a, b) { return a + b }'],
  ['a.py', 'def add(a, b):'],
  ['a.sh', 'echo $(($1 + $2))'],
  ['a.ts', "import { defineConfig } from 'vitest/config'"],
  ['test/a.ts', "export * from '../src/cart.js'"],
  ['a.ts', "} from '@shop/core'"],
  ['src/a.test.js', "const { average, total } = require('./cart')"],
  ['a.test.ts', "spawnSync('node', ['a.js'])"],
])('%s: %s asks for nothing around it', (path, line) => {
  expect(asksAround(path, [line])).toBeNull()
})

test.each([
  ['a.ts', "import flag from './.cache/flag.json'"],
  ['a.ts', "const flag = await import('./.cache/flag')"],
  ['src/a.ts', "import flag from '/tmp/flag.js'"],
  ['src/a.ts', "import flag from '../../tmp/flag.js'"],
  ['a.ts', "  const flag = require('./.cache/flag')"],
  ['a.ts', "const flag = require('./.cache/flag.json')"],
  ['a.go', 'os.Open("/tmp/flag")'],
  ['a.py', 'open("build/flag")'],
])('%s: %s asks for a file', (path, line) => {
  expect(asksAround(path, [line])?.paths).not.toEqual([])
})

const ci: AskedAround = { names: ['CI'], paths: [], isOpen: false }
const open: AskedAround = { names: [], paths: [], isOpen: true }
const when = { root: '/p', home: '/h', sinceMs: 0, beganMs: 0, isInTree: () => true }

test.each([
  ['CI=1 npm test', ci],
  ['export CI=1; npm test', ci],
  ['env $(cat vars) npm test', ci],
  ['nice -n 5 npm test', open],
  ['umask 027; npm test', open],
])('%s sets something that a source asks for', (command, asked) => {
  expect(setAround(command, ['npm test'], new Map([['a.ts', asked]]), when)?.isByCall).toBe(true)
})

test.each([
  ['npm test', open],
  ['cd /p && npm test 2>&1 | tail -20', open],
  ['timeout 60 npm test -- --run; echo "done"', open],
  ['TZ=UTC npm test', ci],
  ['npm test && npm run lint', ci],
])('%s sets nothing that a source asks for', (command, asked) => {
  expect(setAround(command, ['npm test'], new Map([['a.ts', asked]]), when)).toBeNull()
})
