import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Package {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly repository: string
  readonly text: string | null
}

/** The licence texts of every package that modules of a bundle came from. Throws when one has none: it may not be bundled. */
export function licencesOf(modules: readonly string[]): string {
  const directories = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []))
  const packages = [...directories].sort().map(readPackage)
  return packages
    .map(
      (bundled) =>
        `${bundled.name} ${bundled.version} (${bundled.license})\n\n${textOf(bundled, packages).trim()}\n`,
    )
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** Of several packages from one repository under one licence, one may have been published without its text. */
function textOf({ name, version, license, repository, text }: Package, packages: readonly Package[]): string {
  const sibling = packages.find(
    (other) => other.text !== null && other.license === license && other.repository === repository,
  )
  const found = text ?? (repository === '' ? null : (sibling?.text ?? null))
  if (found === null) throw new Error(`${name} ${version} (${license}) has no licence text`)
  return found
}

function readPackage(directory: string): Package {
  const { name, version, license, repository } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  )
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry))
  return {
    name,
    version,
    license,
    repository: (typeof repository === 'string' ? repository : repository?.url) ?? '',
    text: file === undefined ? fromReadme(directory) : readFileSync(join(directory, file), 'utf8'),
  }
}

/** Some packages have the text only at the end of their README. */
function fromReadme(directory: string): string | null {
  const file = readdirSync(directory).find((entry) => /^readme/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(directory, file), 'utf8')
  const found = /^#+ licen[cs]e\s*$(.*)/ims.exec(text)?.[1]?.trim() ?? ''
  return /permission is hereby granted/i.test(found) ? found : null
}
