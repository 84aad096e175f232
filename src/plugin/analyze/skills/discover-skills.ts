import { basename, dirname } from 'node:path'
import { skillName } from '../component-names.ts'
import { below, byCollation, type PluginFiles } from '../files/plugin-files.ts'
import { declaredPaths } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginManifest } from '../manifest/read-manifest.ts'
import type { Notes } from '../notes.ts'

export interface SkillSource {
  /** Of its SKILL.md. */
  readonly path: string
  readonly directory: string
  /** A directory that is itself one skill: its name comes from the frontmatter, not from the directory. */
  readonly isSingle: boolean
}

/**
 * `skills/<name>/SKILL.md` and the paths of the manifest, in Claude Code's order. A SKILL.md at the root is used only when there are
 * none of these.
 */
export function discoverSkills(
  files: PluginFiles,
  manifest: PluginManifest,
  notes: Notes,
): readonly SkillSource[] {
  const declared = declaredPaths(manifest, 'skills', files, notes)
  const found = files.placeOf('skills') === 'directory' ? skillsIn('skills', files, notes) : null
  if (declared === null && found === null) return rootSkill(files)
  const more = (declared?.paths ?? []).flatMap(({ path, kind, line }) => {
    if (kind === 'file') {
      notes.add('PATH_REFUSED', {
        message: `skills names the file ${path}; Claude Code wants a directory`,
        suggestion: `Name the directory: './${dirname(path)}'.`,
        path: manifestFile,
        line,
      })
      return []
    }
    return files.placeOf(fileIn(path)) === 'file' ? [singleSkill(path, files)] : skillsIn(path, files, notes)
  })
  const all = [...(found ?? []), ...more]
  return all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index)
}

function rootSkill(files: PluginFiles): readonly SkillSource[] {
  return files.placeOf('SKILL.md') === 'file' ? [singleSkill('', files)] : []
}

function singleSkill(path: string, { root }: PluginFiles): SkillSource {
  return { path: fileIn(path), directory: basename(path === '' ? root : path), isSingle: true }
}

function skillsIn(parent: string, files: PluginFiles, notes: Notes): readonly SkillSource[] {
  const found: SkillSource[] = []
  for (const { name, kind } of files.list(parent)) {
    const path = below(parent, name)
    if (kind === 'file') {
      if (isMarkdown(name)) noteFlat(path, notes)
      continue
    }
    if (files.placeOf(path) !== 'directory') continue
    const place = files.placeOf(fileIn(path))
    if (place === 'missing') noteMisplaced(path, files, notes)
    // Reading reports a directory or a pipe of that name.
    else if (place !== 'outside' && files.read(fileIn(path)) !== null)
      found.push({ path: fileIn(path), directory: name, isSingle: false })
  }
  return found.sort((a, b) => byCollation(skillName(a.directory), skillName(b.directory)))
}

function isMarkdown(name: string): boolean {
  return /\.md$/i.test(name) && !/^readme\./i.test(name)
}

function noteFlat(path: string, notes: Notes): void {
  notes.add('FILE_NOT_LOADED', {
    message: `${path} is not loaded: a skill is a directory with a SKILL.md`,
    suggestion: `Move it to ${path.replace(/\.md$/i, '')}/SKILL.md.`,
    path,
  })
}

/** A SKILL.md one level too deep, or in other letters. */
function noteMisplaced(directory: string, files: PluginFiles, notes: Notes): void {
  for (const { name, kind } of files.list(directory)) {
    const path = `${directory}/${name}`
    if (kind === 'file' && /^skill\.md$/i.test(name))
      notes.add('FILE_NOT_LOADED', {
        message: `${path} is not loaded: the file must be called SKILL.md`,
        suggestion: 'Rename it.',
        path,
      })
    if (kind === 'directory' && files.placeOf(fileIn(path)) === 'file')
      notes.add('FILE_NOT_LOADED', {
        message: `${fileIn(path)} is not loaded: skills are not nested`,
        suggestion: `Move the directory up, or name ./${directory} in the manifest under skills.`,
        path: fileIn(path),
      })
  }
}

function fileIn(directory: string): string {
  return below(directory, 'SKILL.md')
}
