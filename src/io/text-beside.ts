import { readFileSync } from 'node:fs'

/** The text of a file beside a module. In a bundle the text itself replaces the call: see `scripts/inline-texts.ts`. */
export function textBeside(moduleUrl: string, name: string): string {
  return readFileSync(new URL(name, moduleUrl), 'utf8')
}
