import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The licence texts of every package that modules of a bundle came from. Throws when one has none: it may not be bundled. */
export function licencesOf(modules: readonly string[]): string {
  const directories = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []))
  return [...directories]
    .sort()
    .map(licenceOf)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenceOf(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry))
  if (file === undefined) throw new Error(`${name} ${version} (${license}) has no licence text`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(directory, file), 'utf8').trim()}\n`
}
