import { basename, delimiter, dirname } from 'node:path'
import { fold } from '../own-match.ts'
import type { Attempt, Tampering } from './attempt.ts'

/** Another program under the name of one that the hooks, or the evidence, are made with; or one that is put into all of them. */
export const shadowsProgram: Tampering = (attempt) => {
  const places = programPlaces(attempt)
  for (const { path, how } of attempt.targets.writes) {
    const real = attempt.world.resolve(path).real
    if ([path, real].some((name) => isLoaded(name)))
      return `${path} is loaded into every program, the hooks among them`
    if ([path, real].some((name) => programs.test(basename(name)) && places.has(fold(dirname(name)))))
      return `${path} would stand in for a program that the hooks are started or the tree is read with`
    if (isRunner(path, attempt) && !/mode|owner|removes/.test(how))
      return `${path} would stand in for a program that the evidence is made with`
    if (fold(path) === fold(`${attempt.world.home}/.claude.json`))
      return `${path} says which projects are trusted, and without trust no hook of a project runs`
  }
  return null
}

const programs = /^(?:node|git|sh|env|gantry|claude|codex|gemini|copilot|cursor-agent|opencode)$/i

/** In the directory npm puts before all others: one that is there, or one by whose name tests are run. */
function isRunner(path: string, { world }: Attempt): boolean {
  if (!path.endsWith(`/node_modules/.bin/${basename(path)}`)) return false
  return (
    world.resolve(path).kind !== 'missing' || programs.test(basename(path)) || runners.test(basename(path))
  )
}

const runners =
  /^(?:npm|npx|pnpm|yarn|tsx?|ts-node|vitest|jest|mocha|ava|tap|c8|nyc|tsc|eslint|biome|playwright|cypress)$/i

function isLoaded(path: string): boolean {
  return /^\/etc\/ld\.so\.(?:preload|conf)$|^\/etc\/ld\.so\.conf\.d\//.test(path)
}

function programPlaces({ world }: Attempt): ReadonlySet<string> {
  const listed = (world.env.PATH ?? '').split(delimiter).filter((place) => place !== '')
  return new Set([...listed, '/bin', '/usr/bin', '/usr/local/bin', `${world.home}/bin`].map(fold))
}
