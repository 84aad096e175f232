import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'rolldown'

const call = /textBeside\(import\.meta\.url, '([^']+)'\)/g

/** Replaces each call of `textBeside` with the text of its file, so that a bundle needs no file beside it. */
export const inlineTexts: Plugin = {
  name: 'inline-texts',
  transform: {
    filter: { code: call },
    handler: (code, id) =>
      code.replaceAll(call, (_, name: string) =>
        JSON.stringify(readFileSync(join(dirname(id), name), 'utf8')),
      ),
  },
}

/** The files that a module reads by `textBeside`. */
export function textsBeside(module: string): string[] {
  const calls = readFileSync(module, 'utf8').matchAll(call)
  return [...calls].map(([, name = '']) => join(dirname(module), name))
}
