-- A library as version 1 left it: two images, and an event for each kind of act it knew.
PRAGMA application_id = 1413829459;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE alias (word TEXT PRIMARY KEY, class TEXT NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE caption (
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, position INTEGER NOT NULL, text TEXT NOT NULL,
    by_user INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (image, position)) STRICT, WITHOUT ROWID;
INSERT INTO "caption" VALUES(2,0,'a good dog',1,-6303879071715373470);
CREATE TABLE class (
    name TEXT PRIMARY KEY, position INTEGER NOT NULL, colour INTEGER, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "class" VALUES('cat',0,NULL,-3153296944112707304);
INSERT INTO "class" VALUES('dog',1,NULL,-8378932805767359909);
INSERT INTO "class" VALUES('tiger',2,NULL,-7686307014954422272);
CREATE TABLE event (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, act INTEGER NOT NULL, kind TEXT NOT NULL, target INTEGER NOT NULL,
    words TEXT NOT NULL, changes TEXT NOT NULL, written_by TEXT NOT NULL, row_hash INTEGER NOT NULL) STRICT;
INSERT INTO "event" VALUES(1,1795413809426,1,'act',0,'Imported 2 images from /pictures','[{"Class":["cat",[null,{"position":0}]]},{"Class":["dog",[null,{"position":1}]]},{"Image":[1,{"Content":[null,{"hash":"01595f26cb5c0a22703d0b08387b503d","size":[48,48],"bytes":185}]}]},{"Image":[1,{"Folder":[{},{"label":"cat"}]}]},{"Image":[2,{"Content":[null,{"hash":"382badfbb5994cf3ee826749ca097fe9","size":[48,48],"bytes":186}]}]},{"Image":[2,{"Folder":[{},{"label":"dog"}]}]}]','tessera 0.1.0',4834457093359906745);
INSERT INTO "event" VALUES(2,1795413809609,2,'act',0,'Labelled 1.png as tiger','[{"Class":["tiger",[null,{"position":2}]]},{"Image":[1,{"Label":["Unsaid",{"Class":"tiger"}]}]}]','tessera 0.1.0',4155937914621723685);
INSERT INTO "event" VALUES(3,1795413809747,3,'act',0,'Captioned 2.png','[{"Image":[2,{"Captions":[[],[{"text":"a good dog","by_user":true}]]}]}]','tessera 0.1.0',4359673106496791845);
INSERT INTO "event" VALUES(4,1795413809877,4,'undo',3,'Undo: Captioned 2.png','[{"Image":[2,{"Captions":[[{"text":"a good dog","by_user":true}],[]]}]}]','tessera 0.1.0',-8377256785961695372);
INSERT INTO "event" VALUES(5,1795413810022,5,'redo',3,'Redo: Captioned 2.png','[{"Image":[2,{"Captions":[[],[{"text":"a good dog","by_user":true}]]}]}]','tessera 0.1.0',-4499400510283135541);
CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "fact" VALUES('checked at',1795413810113,8686914771365488483);
INSERT INTO "fact" VALUES('clean',0,3636574339285460363);
INSERT INTO "fact" VALUES('library',7793827671674564534,3015399852009993860);
INSERT INTO "fact" VALUES('snapshot taken',1795413809478,-2960348507962963426);
CREATE TABLE forgotten (hash BLOB PRIMARY KEY, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE image (
    id INTEGER PRIMARY KEY, hash BLOB UNIQUE, width INTEGER, height INTEGER, bytes INTEGER, changed INTEGER,
    folder_label TEXT, object TEXT, meta TEXT NOT NULL DEFAULT '{}',
    user_said TEXT NOT NULL DEFAULT 'nothing' CHECK (user_said IN ('nothing', 'class', 'no class')), user_label TEXT,
    removed INTEGER NOT NULL DEFAULT 0, row_hash INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "image" VALUES(1,X'01595F26CB5C0A22703D0B08387B503D',48,48,185,0,'cat',NULL,'{}','class','tiger',0,-2784219946221918253);
INSERT INTO "image" VALUES(2,X'382BADFBB5994CF3EE826749CA097FE9',48,48,186,0,'dog',NULL,'{}','nothing',NULL,0,4459074346265750814);
CREATE TABLE place (
    root INTEGER NOT NULL REFERENCES root, path BLOB NOT NULL, shown TEXT NOT NULL,
    image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE, hash BLOB NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL,
    here INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (root, path)) STRICT, WITHOUT ROWID;
INSERT INTO "place" VALUES(1,X'6361742F312E706E67','cat/1.png',1,X'01595F26CB5C0A22703D0B08387B503D',185,1795413808971838766,1,-4907935722953195178);
INSERT INTO "place" VALUES(1,X'646F672F322E706E67','dog/2.png',2,X'382BADFBB5994CF3EE826749CA097FE9',186,1795413808972558152,1,5013765697463145770);
CREATE TABLE root (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL, shown TEXT NOT NULL, labels TEXT NOT NULL, exclude TEXT NOT NULL,
    row_hash INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "root" VALUES(1,X'2F7069637475726573','/pictures','auto','',-1025291471900883857);
CREATE TABLE tally (name TEXT PRIMARY KEY, n INTEGER NOT NULL, row_hash INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "tally" VALUES('alias',0,-3303549163891891646);
INSERT INTO "tally" VALUES('caption',1,5539534090778556353);
INSERT INTO "tally" VALUES('class',3,4788893371735000886);
INSERT INTO "tally" VALUES('event',5,-4337720913699777784);
INSERT INTO "tally" VALUES('forgotten',0,-1043578122186341992);
INSERT INTO "tally" VALUES('image',2,8578698787248079212);
INSERT INTO "tally" VALUES('place',2,3800605197467279317);
INSERT INTO "tally" VALUES('root',1,8585900806452766091);
CREATE INDEX place_image ON place (image);
COMMIT;
