"""The plan as a Windows batch file: setup_agent_project.bat lays out the same tree, byte for byte, without Python.

What belongs here: the text of the script. What does not: what it writes (`plan`). `echo` cannot write these files: it
ends every line with CR LF, and quoting depends on the code page. So the bytes stand in the script as base64 and
certutil, which every Windows since 7 has, turns them back; the script itself is plain ASCII. A file gets its name by
`ren`, which never replaces anything, when all of it is written.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.framework.scaffold.plan import Plan, PlannedFile

_LINE: Final = 64
"""Characters of base64 on a line, as certutil itself writes them; a command line holds 8191."""
_HEAD: Final = r"""@echo off
rem Lays out a governed project folder, as govern init does, without Python. Generated; language: @LANGUAGE@.
rem Usage: setup_agent_project.bat FOLDER
rem Adds what is missing, never overwrites, and enters no link. Exit: 0 done, 2 refused, 3 could not write.
setlocal EnableExtensions DisableDelayedExpansion
if "%~1"=="" goto usage
if not "%~2"=="" goto usage
set "PROJECT_PATH=%~f1"
set "ENCODED=%TEMP%\govern-%RANDOM%-%RANDOM%.b64"
set "REFUSED="
"""
_TAIL: Final = r"""exit /b 0

:want_folder
if not exist "%PROJECT_PATH%\%~1" exit /b 0
call :is_link "%PROJECT_PATH%\%~1" && goto in_the_way
if exist "%PROJECT_PATH%\%~1\" exit /b 0
goto in_the_way

:want_file
if not exist "%PROJECT_PATH%\%~1" exit /b 0
call :is_link "%PROJECT_PATH%\%~1" && goto in_the_way
if not exist "%PROJECT_PATH%\%~1\" exit /b 0
goto in_the_way

:in_the_way
echo %~1 is something else than the tree has there; move it away, then run it again 1>&2
set "REFUSED=1"
exit /b 0

:is_link
for %%A in ("%~1") do echo %%~aA| find "l" >nul
exit /b %ERRORLEVEL%

:folder
if exist "%PROJECT_PATH%\%~1\" exit /b 0
mkdir "%PROJECT_PATH%\%~1"
exit /b %ERRORLEVEL%

:named
if exist "%PROJECT_PATH%\%~1.govern-new" del "%PROJECT_PATH%\%~1.govern-new"
certutil -decode "%ENCODED%" "%PROJECT_PATH%\%~1.govern-new" >nul
if errorlevel 1 exit /b 3
del "%ENCODED%"
ren "%PROJECT_PATH%\%~1.govern-new" "%~nx1"
if errorlevel 1 exit /b 3
echo added   %~1
exit /b 0

:usage
echo give one folder: setup_agent_project.bat FOLDER 1>&2
exit /b 2

:failed
if exist "%ENCODED%" del "%ENCODED%"
echo something could not be written; check rights and space, then run it again 1>&2
exit /b 3
"""


def batch_script(plan: Plan) -> bytes:
    """Give the script that lays out a plan; ASCII, CR LF."""
    lines = _HEAD.replace("@LANGUAGE@", plan.language).splitlines()
    lines += ["", "rem Look at everything first."]
    lines += [f'call :want_folder "{_path(folder.path)}"' for folder in plan.folders]
    lines += [f'call :want_file "{_path(file.path)}"' for file in plan.files]
    lines += ["if defined REFUSED exit /b 2", "", "rem Then make what is missing."]
    lines += ['if not exist "%PROJECT_PATH%\\" mkdir "%PROJECT_PATH%" || goto failed']
    lines += [f'call :folder "{_path(folder.path)}" || goto failed' for folder in plan.folders]
    for number, file in enumerate(plan.files, start=1):
        lines += _file_statements(number, file)
    lines += ["", *_TAIL.splitlines()]
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def _file_statements(number: int, file: PlannedFile) -> Iterator[str]:
    path = _path(file.path)
    text = base64.b64encode(file.data).decode("ascii")
    yield ""
    yield f'if exist "%PROJECT_PATH%\\{path}" goto kept_{number}'
    yield '> "%ENCODED%" echo -----BEGIN CERTIFICATE-----|| goto failed'  # older versions of certutil ask for both ends
    for at in range(0, len(text), _LINE):
        yield f'>> "%ENCODED%" echo {text[at : at + _LINE]}'
    yield '>> "%ENCODED%" echo -----END CERTIFICATE-----'
    yield f'call :named "{path}" || goto failed'
    yield f"goto done_{number}"
    yield f":kept_{number}"
    yield f"echo kept    {path}"
    yield f":done_{number}"


def _path(path: str) -> str:
    return path.replace("/", "\\")
