import { quoteForSh } from '../../io/pty.ts'

const mark = '# Written by gantry: the files the workspace begins with.'

/** A script that creates these files in its working directory. */
export function scaffoldScript(files: Readonly<Record<string, string>>): string {
  const steps = Object.entries(files).map(([path, content]) => {
    const packed = Buffer.from(content, 'utf8').toString('base64')
    return `mkdir -p -- "$(dirname -- ${quoteForSh(path)})" && printf %s ${quoteForSh(packed)} | base64 -d > ${quoteForSh(path)}`
  })
  return ['#!/usr/bin/env bash', mark, 'set -euo pipefail', ...steps, ''].join('\n')
}

/** The files that a script written by Gantry creates; null for any other script, which must be run. */
export function scaffoldFiles(script: string): Readonly<Record<string, string>> | null {
  const lines = script.split('\n')
  if (lines[1] !== mark) return null
  const files: Record<string, string> = {}
  for (const line of lines.slice(3)) {
    const [, packed, path] =
      /^mkdir .* && printf %s '([A-Za-z0-9+/=]*)' \| base64 -d > '(.*)'$/.exec(line) ?? []
    if (packed !== undefined && path !== undefined)
      files[path.replaceAll(`'\\''`, "'")] = Buffer.from(packed, 'base64').toString('utf8')
  }
  return scaffoldScript(files) === script ? files : null
}
